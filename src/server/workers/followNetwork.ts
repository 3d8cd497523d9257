import type { Logger } from 'pino';
import type { Config, NetworkConfig } from '../../config/index.ts';
import {
  type AnswerStore,
  type CallContext,
  type GatewayMetrics,
  type IndexFiller,
  Live,
  type Method,
  type MethodRow,
  openRpcDocument,
  type PolledFilters,
  startNetwork,
} from '../../ethereum/gateway/index.ts';
import { BlockUnavailableError, type FollowedChange, PooledSource } from '../../ethereum/ingest/index.ts';
import { NodeError, type NodePool } from '../../ethereum/nodes/index.ts';
import { methodsOf, networkOptions } from '../ethereumNetwork.ts';
import type { NetworkState, PrimaryCalls, WorkerCalls } from './calls.ts';
import { followIndex } from './followIndex.ts';
import { LeasedNodeBudget } from './leasedNodeBudget.ts';
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

/** A network as a worker answers for it. */
export interface FollowedNetwork {
  readonly methods: readonly Method[];
  readonly live: Live;
  readonly pool: NodePool;
  follow(state: NetworkState): void;
  followed(change: FollowedChange): void;
  stop(): Promise<void>;
}

/** Answers for a network whose nodes are polled, and whose index is written, by the primary. */
export async function followNetwork(
  options: FollowNetworkOptions,
  { table, answers, metrics, logger, primary }: FollowNetworkDependencies,
): Promise<FollowedNetwork> {
  const { name, config } = options;
  const index = await followIndex(options, { logger });
  const placeOf = (node: { readonly name: string }): number =>
    pool.nodes.findIndex((other) => other.name === node.name);
  const network = await startNetwork(
    { ...networkOptions(options), chain: undefined },
    {
      ...{ store: answers, metrics, log: logger },
      elsewhere: {
        // The primary is gone where this fails, and this process ends.
        poll: (node) => primary.ask('poll', { network: name, node: placeOf(node) }).catch(() => undefined),
        budgetOf: (limits, node) =>
          new LeasedNodeBudget(limits, (wanted) =>
            primary.ask('takeOfNode', { ...wanted, network: name, node }),
          ),
        found: (node, why) => primary.tell('found', { network: name, node: placeOf(node), why }),
      },
    },
  );
  const { pool, cache } = network;
  const live = new Live(network, (areWanted) =>
    primary.ask('wantChanges', { network: name, areWanted }).catch(() => undefined),
  );
  pool.onHead(() => live.headChanged());
  const services = {
    network,
    filters: filtersOf(name, primary),
    index: {
      ...{
        store: index.reader,
        finder: new PooledSource(pool),
        maxAnswerBytes: config.gateway.maxAnswerBytes,
      },
      indexer: fillerOf(name, pool, { primary, refresh: () => index.refresh() }),
    },
    description: () => Buffer.from(JSON.stringify(openRpcDocument(name, table))),
  };
  return {
    ...{ pool, live },
    methods: methodsOf(table, services),
    follow(state) {
      const caught = pool.nodes.filter(
        ({ health }, i) => state.pool.nodes[i]?.health === 'quarantined' && health !== 'quarantined',
      );
      for (const node of caught) cache.distrust(node.name);
      cache.followStore(state.store);
      index.follow(state);
      pool.follow(state.pool);
    },
    followed: (change) => live.followed(change),
    async stop() {
      live.stop();
      await pool.stop();
      await index.close();
    },
  };
}

/** Has the primary index what is missing. */
function fillerOf(
  network: string,
  pool: NodePool,
  { primary, refresh }: { readonly primary: ToPrimary; readonly refresh: () => void },
): IndexFiller {
  return {
    get lastHeads() {
      return pool.knownHeads;
    },
    async freshHeads() {
      try {
        return await pool.freshHeads();
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return pool.knownHeads;
      }
    },
    async ensure(fromBlock, toBlock) {
      const unavailable = await primary.ask('ensure', { network, fromBlock, toBlock });
      refresh();
      if (unavailable !== undefined) throw new BlockUnavailableError(unavailable.missing);
    },
  };
}

/** Filters are the primary's: how far a client is that asks by several connections is known once. */
function filtersOf(network: string, primary: ToPrimary): PolledFilters {
  const call = ({ client }: CallContext) => ({ network, client: client?.() ?? '' });
  return {
    make: (logs, context) => primary.ask('makeFilter', { ...call(context), logs }),
    changes: (id, context) => primary.ask('filterChanges', { ...call(context), id }),
    logs: async (id, context) => Buffer.from(await primary.ask('filterLogs', { ...call(context), id })),
    uninstall: (id) => primary.ask('uninstallFilter', { network, client: '', id }),
  };
}
