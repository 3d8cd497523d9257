import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AcceptedTransaction,
  type CallLimits,
  type FilterRow,
  type Handler,
  type IndexFiller,
  Live,
  openRpcDocument,
  startNetwork,
} from '../../ethereum/gateway/index.ts';
import { type HeadChange, PooledSource } from '../../ethereum/ingest/index.ts';
import {
  LeasedNodeBudget,
  NodeError,
  type NodePool,
  TRACE_SLOTS,
  type UpstreamNode,
} from '../../ethereum/nodes/index.ts';
import { RemoteSlots } from '../../platform/budgets/index.ts';
import { sharedRuns } from '../../platform/serialQueue/index.ts';
import {
  type EthereumNetworkDependencies,
  type EthereumNetworkOptions,
  methodsOf,
  type NetworkState,
  networkOptions,
} from '../ethereum/ethereumNetwork.ts';
import { followIndex } from '../jobs/followIndex.ts';
import type { ToPrimary } from './calls.ts';

/** Maximum time in milliseconds for which the response of a sent transaction waits for a worker that is busy. */
const SHARE_MS = 500;

export type FollowedNetwork = Awaited<ReturnType<typeof followNetwork>>;

/** Opens an Ethereum network in a worker. The first process polls the nodes of the network and writes its index. */
export async function followNetwork(
  {
    workers,
    ...options
  }: Pick<EthereumNetworkOptions, 'name' | 'upstream' | 'config'> & { readonly workers: number },
  parts: Pick<EthereumNetworkDependencies, 'table' | 'answers' | 'metrics' | 'logger'>,
  primary: ToPrimary,
) {
  const { table, answers, metrics, logger } = parts;
  const { name, config } = options;
  const index = await followIndex(name, config, (part) => primary.tell('damaged', { network: name, part }));
  const indexOf = (node: UpstreamNode): number => pool.nodes.indexOf(node);
  const network = await startNetwork(
    { ...networkOptions(options), chain: undefined, processes: workers },
    {
      store: answers,
      metrics,
      log: logger,
      remotePolling: {
        poll: (node) => primary.ask('poll', { network: name, node: indexOf(node) }),
        newest: sharedRuns(() => primary.ask('newest', undefined)),
        budgetOf: (limits, node) =>
          new LeasedNodeBudget(limits, (wanted) =>
            primary.ask('takeOfNode', { ...wanted, network: name, node }),
          ),
        traceSlotsOf: (node) =>
          new RemoteSlots(TRACE_SLOTS, (client) => {
            const id = randomUUID();
            const isFree = primary.ask('takeTraceSlot', { network: name, node, client, id });
            return { isFree, end: () => primary.tell('endTraceSlot', id) };
          }),
        shareAccepted: async (transaction) => {
          const told = primary.ask('accepted', { ...transaction, network: name });
          await Promise.race([told, pause(SHARE_MS, undefined, { ref: false })]);
        },
        reportNodeFault: (node, why) => primary.tell('found', { network: name, node: indexOf(node), why }),
      },
    },
  );
  const { pool, cache } = network;
  const live = new Live(network, (areWanted) => primary.ask('wantChanges', { network: name, areWanted }));
  pool.onHead(() => live.headChanged());
  const refresh = (): void => index.refresh();
  const services = {
    network,
    filters: remoteFilters(name, primary),
    index: {
      store: index.reader,
      finder: new PooledSource(pool),
      maxAnswerBytes: config.gateway.maxAnswerBytes,
      indexer: fillerOf(name, pool, { primary, refresh }),
    },
    description: (limits: CallLimits) => Buffer.from(JSON.stringify(openRpcDocument(name, table, limits))),
  };
  return {
    pool,
    live,
    refresh,
    methods: methodsOf(table, services),
    follow(state: NetworkState) {
      for (const [i, { health }] of state.pool.nodes.entries()) {
        const node = pool.nodes[i];
        if (node !== undefined && health === 'quarantined' && node.health !== health)
          cache.distrust(node.name);
      }
      cache.applyStoreState(state.store);
      pool.adopt(state.pool);
    },
    followed: (change: HeadChange) => live.indexChanged(change),
    accepted: (transaction: AcceptedTransaction) => network.accepted.add(transaction),
    async stop() {
      live.stop();
      await pool.stop();
      await index.close();
    },
  };
}

/** Returns an index filler that asks the first process to index missing blocks. */
function fillerOf(
  network: string,
  pool: NodePool,
  { primary, refresh }: { readonly primary: ToPrimary; readonly refresh: () => void },
): IndexFiller {
  return {
    get lastHeads() {
      return pool.knownHeads;
    },
    freshHeads: () =>
      pool.freshHeads().catch((error: unknown) => {
        if (error instanceof NodeError) return pool.knownHeads;
        throw error;
      }),
    charge: (blocks, client) => primary.ask('charge', { network, blocks, client }),
    ensure: (fromBlock, toBlock, client) =>
      primary.ask('ensure', { network, fromBlock, toBlock, client }).finally(refresh),
  };
}

/**
 * Returns the handler of a filter method. Filters are kept in the first process, because a client's HTTP requests may
 * reach any worker.
 */
const remoteFilters =
  (network: string, primary: ToPrimary) =>
  ({ name: method }: FilterRow): Handler =>
  async (params, { address = () => '', keyId, credential, limits }) => {
    const who = { address: address(), keyId, credential, limits };
    return Buffer.from(await primary.ask('filter', { network, method, params, ...who }));
  };
