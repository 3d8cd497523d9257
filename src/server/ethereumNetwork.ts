import type { Logger } from 'pino';
import { type Config, ConfigError, type NetworkConfig } from '../config/index.ts';
import {
  type AnswerStore,
  EXPLORER_STANDS_FOR,
  explorerMethod,
  Filters,
  type GatewayMetrics,
  Live,
  type Method,
  type MethodRow,
  methodOf,
  type NodeGauges,
  openRpcDocument,
  type PolledFilters,
  startNetwork,
} from '../ethereum/gateway/index.ts';
import {
  type ApplyWith,
  type BeginBlock,
  type BeginWrite,
  BlockUnavailableError,
  type FollowedChange,
  Indexer,
  type IndexerStatus,
  PooledSource,
} from '../ethereum/ingest/index.ts';
import { ChainMismatchError, type Finality, type NodePool, type SetAside } from '../ethereum/nodes/index.ts';
import type { StoredBlock, TraceStore } from '../ethereum/traces/index.ts';
import type { Tracer } from '../platform/spans/index.ts';
import { decimalChainId } from './decimalChainId.ts';
import type { IngestMetrics } from './ingestMetrics.ts';
import { IngestReport } from './ingestReport.ts';
import { UndoUnseen } from './undoUnseen.ts';
import type { NetworkState } from './workers/calls.ts';

/** Behind the node by more blocks than this, the index is not ready. */
const MAX_READY_LAG_BLOCKS = 5;

export interface EthereumNetworkOptions {
  readonly name: string;
  readonly upstream: NetworkConfig['upstream'];
  readonly indexFrom: number | undefined;
  readonly config: Config;
  /** Another process writes the index. */
  readonly isFollower: boolean;
}

export interface EthereumNetworkDependencies {
  /** The methods that are served. */
  readonly table: readonly MethodRow[];
  /** Its index; closed with the network, also where that cannot be started. */
  readonly store: TraceStore;
  readonly answers: AnswerStore;
  /** Proves that ids of filters are ours. */
  readonly filterSecret: Uint8Array;
  readonly metrics: GatewayMetrics;
  readonly ingestMetrics: IngestMetrics;
  readonly logger: Logger;
  /** Undefined where nothing is traced. */
  readonly tracer: Tracer | undefined;
  readonly followers: Followers | undefined;
}

/** Processes that answer from the index that this one writes. */
export interface Followers {
  readonly applyWith: ApplyWith;
  /** Resolves when they answer by the state that there is now. */
  settled(): Promise<void>;
  followed(network: string, change: FollowedChange): void;
}

/** One network: its index, its ingest, its nodes, and the methods that they answer. */
export interface EthereumNetwork {
  readonly methods: readonly Method[];
  readonly live: Live;
  readonly pool: NodePool;
  nodes(): readonly NodeGauges[];
  /** How far its index is. */
  index(): Promise<IndexStanding>;
  readonly filters: PolledFilters;
  /** What other processes answer by. */
  state(): NetworkState;
  /** Another process has found that a node is unwell, or, without a reason, that its chain is to be compared anew. */
  found(node: number, why: SetAside | undefined): void;
  /** Has blocks indexed. Resolves with the first that cannot be had. */
  ensure(fromBlock: number, toBlock: number): Promise<{ readonly missing: number } | undefined>;
  /** What is missing for the index to be ready; undefined where nothing is. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** How far an index is, and how fast it grows. */
export interface IndexStanding extends IndexerStatus {
  readonly headBlock: number | undefined;
  readonly blocksPerSecond: number;
}

export async function startEthereumNetwork(
  options: EthereumNetworkOptions,
  dependencies: EthereumNetworkDependencies,
): Promise<EthereumNetwork> {
  const { table, store, answers, filterSecret, metrics, ingestMetrics, logger, tracer, followers } =
    dependencies;
  const { name, upstream, config } = options;
  checkAgreement(options);
  const finality = finalityOf(config);
  const network = await connect().catch(async (error: unknown) => {
    await store.close();
    throw error instanceof ChainMismatchError ? new ConfigError(`network ${name}: ${error.message}`) : error;
  });
  const { pool } = network;
  const source = new PooledSource(
    pool,
    (node, what, { reason, message }) =>
      logger.warn(
        { network: name, node: node.name, host: node.client.host, what, reason, detail: message },
        'upstream did not give what it was asked for; the others are asked',
      ),
    tracer && beginBlockWith(tracer, name),
  );
  const live = new Live(network);
  const filters = new Filters({ network, live, secret: filterSecret });
  const { pollIntervalMs } = config.index;
  const isShared = config.traceStore !== undefined;
  const unseen = isShared && followers ? new UndoUnseen(followers) : undefined;
  const indexer = new Indexer(
    {
      pollIntervalMs,
      isFollower: options.isFollower,
      ...(finality && { finality }),
      ...(options.indexFrom !== undefined && { fromBlock: options.indexFrom }),
    },
    {
      ...{ store, source, observer: new IngestReport(logger, ingestMetrics, name) },
      followed(change) {
        live.followed(change);
        followers?.followed(name, change);
      },
      applyWith: (unseen ?? followers)?.applyWith,
      beginWrite: tracer && beginWriteWith(tracer, name),
    },
  );
  pool.onHead(() => {
    indexer.headChanged();
    live.headChanged();
  });
  ingestMetrics.watchLag(name, () => indexer.status().lagBlocks ?? 0);
  ingestMetrics.watchFirstMissing(name, () => indexer.status().firstMissing);
  indexer.start();

  const services = {
    ...{ network, filters },
    index: { store, indexer, finder: source, maxAnswerBytes: config.gateway.maxAnswerBytes },
    description: () => Buffer.from(JSON.stringify(openRpcDocument(name, table))),
  };
  return {
    pool,
    live,
    filters,
    state: () => ({
      pool: pool.state,
      store: network.cache.storeState,
      // An embedded index answers at once.
      indexHead: isShared ? -1 : ((store.head() as StoredBlock | undefined)?.number ?? -1),
      recentPart: unseen?.isUndoing === true ? undefined : store.recentPart,
    }),
    found(place, why) {
      const node = pool.nodes[place];
      if (node === undefined) return;
      if (why === undefined) node.isChainVerified = false;
      else {
        if (why.health === 'quarantined') network.cache.distrust(node.name);
        pool.setAside(node, why);
      }
    },
    async ensure(fromBlock, toBlock) {
      try {
        await indexer.ensure(fromBlock, toBlock);
        return undefined;
      } catch (error) {
        if (error instanceof BlockUnavailableError) return { missing: error.blockNumber };
        throw error;
      }
    },
    methods: methodsOf(table, services),
    nodes: () =>
      pool.nodes.map(({ name, health, heads }) => ({
        name,
        isHealthy: health === 'healthy',
        headBlock: heads?.latest.number,
      })),
    async index() {
      const headBlock = (await store.head())?.number;
      return { ...indexer.status(), headBlock, blocksPerSecond: ingestMetrics.blocksPerSecond(name) };
    },
    notReady() {
      const { lagBlocks, failure } = indexer.status();
      // How far behind the index is cannot be told while the node cannot be followed.
      if (failure !== undefined) return `indexing waits: ${failure}`;
      if (lagBlocks === undefined) return 'the node has not answered yet';
      if (lagBlocks > MAX_READY_LAG_BLOCKS) return `the index is ${lagBlocks} blocks behind the node`;
      return undefined;
    },
    async stop() {
      filters.stop();
      live.stop();
      await indexer.stop();
      await pool.stop();
      await store.close();
    },
  };

  async function connect() {
    const chain = await store.chain();
    return startNetwork(
      { ...networkOptions({ name, upstream, config }), chain },
      { store: answers, metrics, log: logger },
    );
  }
}

/** What is configured of a network's nodes, and of answers of theirs. */
export const networkOptions = ({
  name,
  upstream,
  config,
}: Pick<EthereumNetworkOptions, 'name' | 'upstream' | 'config'>): Omit<
  Parameters<typeof startNetwork>[0],
  'chain'
> => ({
  name,
  finality: finalityOf(config),
  upstreams: upstream,
  pollIntervalMs: config.index.pollIntervalMs,
  timeoutMs: config.gateway.requestTimeoutMs,
  nodeWaitMs: config.gateway.nodeWaitMs,
  maxAnswerBytes: config.gateway.maxAnswerBytes,
  cacheMemoryBytes: config.gateway.cacheMemoryBytes,
  cacheUnconfirmedMs: config.gateway.cacheUnconfirmedMs,
  agreement: config.gateway.agreement,
});

/** The methods of a table as a network serves them; with the explorer's where the history of addresses is. */
export function methodsOf(table: readonly MethodRow[], services: Parameters<typeof methodOf>[1]): Method[] {
  const methods = table.map((row) => methodOf(row, services));
  if (!table.some((row) => row.name === EXPLORER_STANDS_FOR)) return methods;
  const { pool } = services.network;
  return [...methods, explorerMethod(services.index, () => decimalChainId(pool.chainId))];
}

const beginBlockWith =
  (tracer: Tracer, network: string): BeginBlock =>
  (blockNumber) => {
    const span = tracer.begin({ name: 'ingest block', kind: 'internal' });
    span?.set('floodgate.network', network);
    span?.set('floodgate.block', blockNumber);
    return span;
  };

const beginWriteWith =
  (tracer: Tracer, network: string): BeginWrite =>
  ({ blocks, undoFrom }) => {
    const span = tracer.begin({ name: 'write blocks', kind: 'internal' });
    span?.set('floodgate.network', network);
    span?.set('floodgate.blocks', blocks.length);
    const first = blocks[0]?.block.number ?? undoFrom;
    if (first !== undefined) span?.set('floodgate.block', first);
    return span;
  };

/** One node has nobody to agree with. Throws ConfigError. */
function checkAgreement({ name, upstream, config }: EthereumNetworkOptions): void {
  if (config.gateway.agreement.methods.length > 0 && upstream.length < 2)
    throw new ConfigError(
      `gateway.agreement.methods wants several nodes asked, and network ${name} has one: name two or more`,
    );
}

const DEPTH = 'depth:';

/** What `index.finality` says; undefined where it is left out. */
function finalityOf({ index: { finality } }: Config): Finality | undefined {
  if (finality === undefined || finality === 'node' || finality === 'none') return finality;
  return { depth: Number(finality.slice(DEPTH.length)) }; // the schema has seen to the form
}
