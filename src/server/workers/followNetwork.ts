import type { Logger } from 'pino';
import type { Config, NetworkConfig } from '../../config/index.ts';
import {
  type AnswerStore,
  type FilterRow,
  type GatewayMetrics,
  type Handler,
  type IndexFiller,
  Live,
  type Method,
  type MethodRow,
  openRpcDocument,
  startNetwork,
} from '../../ethereum/gateway/index.ts';
import { BlockUnavailableError, type HeadChange, PooledSource } from '../../ethereum/ingest/index.ts';
import { LeasedNodeBudget, NodeError, type NodePool } from '../../ethereum/nodes/index.ts';
import { methodsOf, type NetworkState, networkOptions } from '../ethereum/ethereumNetwork.ts';
import type { PrimaryCalls, WorkerCalls } from './calls.ts';
import { followIndex } from './followIndex.ts';
import type { Link } from './link.ts';

export type ToPrimary = Link<WorkerCalls, PrimaryCalls>;

export interface FollowNetworkOptions {
  readonly name: string;
  readonly upstream: NetworkConfig['upstream'];
  readonly config: Config;
}

export interface FollowNetworkDependencies {
  readonly table: readonly MethodRow[];
  readonly answers: AnswerStore;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  readonly primary: ToPrimary;
}

export interface FollowedNetwork {
  readonly methods: readonly Method[];
  readonly live: Live;
  readonly pool: NodePool;
  follow(state: NetworkState): void;
  followed(change: HeadChange): void;
  refresh(): void;
  stop(): Promise<void>;
}

/** Opens an Ethereum network in a worker. The first process polls the nodes of the network and writes its index. */
export async function followNetwork(
  options: FollowNetworkOptions,
  { table, answers, metrics, logger, primary }: FollowNetworkDependencies,
): Promise<FollowedNetwork> {
  const { name, config } = options;
  const index = await followIndex(options, { logger });
  const indexOf = (node: { readonly name: string }): number =>
    pool.nodes.findIndex((other) => other.name === node.name);
  // Calls to the first process fail when it ends. As this worker then ends too, their errors are ignored.
  const ignore = (): undefined => undefined;
  const network = await startNetwork(
    { ...networkOptions(options), chain: undefined },
    {
      ...{ store: answers, metrics, log: logger },
      remotePolling: {
        poll: (node) => primary.ask('poll', { network: name, node: indexOf(node) }).catch(ignore),
        newest: sharedRuns(() => primary.ask('newest', undefined).catch(ignore)),
        budgetOf: (limits, node) =>
          new LeasedNodeBudget(limits, (wanted) =>
            primary.ask('takeOfNode', { ...wanted, network: name, node }),
          ),
        reportNodeFault: (node, why) => primary.tell('found', { network: name, node: indexOf(node), why }),
      },
    },
  );
  const { pool, cache } = network;
  const live = new Live(network, (areWanted) =>
    primary.ask('wantChanges', { network: name, areWanted }).catch(ignore),
  );
  pool.onHead(() => live.headChanged());
  const { maxAnswerBytes } = config.gateway;
  const refresh = (): void => index.refresh();
  const services = {
    network,
    filters: remoteFilters(name, primary),
    index: {
      ...{ store: index.reader, finder: new PooledSource(pool), maxAnswerBytes },
      indexer: fillerOf(name, pool, { primary, refresh }),
    },
    description: () => Buffer.from(JSON.stringify(openRpcDocument(name, table))),
  };
  return {
    ...{ pool, live, refresh },
    methods: methodsOf(table, services),
    follow(state) {
      for (const [i, { health }] of state.pool.nodes.entries()) {
        const node = pool.nodes[i];
        if (node !== undefined && health === 'quarantined' && node.health !== health)
          cache.distrust(node.name);
      }
      cache.applyStoreState(state.store);
      index.follow(state);
      pool.adopt(state.pool);
    },
    followed: (change) => live.indexChanged(change),
    async stop() {
      live.stop();
      await pool.stop();
      await index.close();
    },
  };
}

/**
 * Returns a function that starts `work`, one run at a time. Calls during a run share the next run, which thus starts
 * after each of them.
 */
function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      running = work();
      return running;
    });
    return next;
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
    async ensure(fromBlock, toBlock) {
      const notIndexed = await primary.ask('ensure', { network, fromBlock, toBlock });
      refresh();
      if (notIndexed === undefined) return;
      throw new BlockUnavailableError(notIndexed.missing, { failure: notIndexed.failure });
    },
  };
}

/**
 * Returns the handler of a filter method. Filters are kept in the first process, because a client's HTTP requests may
 * reach any worker.
 */
const remoteFilters =
  (network: string, primary: ToPrimary) =>
  ({ name: method }: FilterRow): Handler =>
  async (params, { client = () => '', address = () => '' }) =>
    Buffer.from(
      await primary.ask('filter', { network, method, params, client: client(), address: address() }),
    );
