import type { Logger } from 'pino';
import { type Config, ConfigError, type NetworkConfig } from '../../config/index.ts';
import {
  type AccessWatch,
  type AnswerStore,
  blockByTimeMethod,
  type CallLimits,
  EXPLORER_PERMISSION,
  explorerMethod,
  type FilterMemory,
  type FilterRow,
  Filters,
  type GatewayMetrics,
  type IndexFiller,
  Live,
  type Method,
  type MethodRow,
  methodOf,
  type NewBlocks,
  type NodeGauges,
  nodeRequester,
  openRpcDocument,
  type StoreState,
  startNetwork,
} from '../../ethereum/gateway/index.ts';
import {
  type BeginBlock,
  type BeginWrite,
  type HeadChange,
  Indexer,
  type IndexerStatus,
  PooledSource,
} from '../../ethereum/ingest/index.ts';
import {
  ChainMismatchError,
  type NodePool,
  type NodeRemoval,
  type PoolState,
  type TraceProvider,
} from '../../ethereum/nodes/index.ts';
import type { CombinedTraceStore, SharedTraces } from '../../ethereum/store/shared/index.ts';
import type { DamagedPart, TraceStore, UnavailableBlock } from '../../ethereum/traces/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import type { IngestMetrics } from '../health/ingestMetrics.ts';
import { IngestReport } from '../health/ingestReport.ts';
import { followSharedIndex, type SharedIndexWork } from '../jobs/followSharedIndex.ts';
import { decimalChainId } from './decimalChainId.ts';
import { finalityOf } from './finalityOf.ts';

/** Maximum lag, in blocks, up to which the index counts as ready. */
const MAX_READY_LAG_BLOCKS = 5;

export interface EthereumNetworkOptions {
  readonly name: string;
  readonly upstream: NetworkConfig['upstream'];
  readonly indexFrom: number | undefined;
  readonly config: Config;
}

export interface EthereumNetworkDependencies {
  readonly table: readonly MethodRow[];
  /** Trace index of the network. It is closed with the network, or when the network cannot be started. */
  readonly store: TraceStore;
  /** The same store, if older blocks are in the index that servers share. */
  readonly combined?: CombinedTraceStore | undefined;
  /** Returns the writer of the shared index; undefined if other servers write it. */
  readonly writer?: SharedTraces['writer'] | undefined;
  readonly answers: AnswerStore;
  readonly filterMemory: FilterMemory;
  /** Watches the API keys of filters, also of those that workers create. */
  readonly accessWatch: AccessWatch;
  /** Limits the blocks that are indexed for each client, on all networks together. */
  readonly newBlocks: NewBlocks;
  /** Returns why no blocks may be written now, as text; undefined if they may. */
  readonly noSpace: () => string | undefined;
  readonly metrics: GatewayMetrics;
  readonly ingestMetrics: IngestMetrics;
  readonly logger: Logger;
  /** Undefined if tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly followers: Replicas | undefined;
}

/** Workers that read the index written by this process. */
export interface Replicas {
  /** Sends the state of a network to all workers if it changed. */
  stateChanged(network: string): void;
  /** Resolves when all workers have applied the current state. */
  settled(): Promise<void>;
  /** Sends a change at the head of a network's index to the workers that need it. */
  followed(network: string, change: HeadChange): void;
}

/** State of a network that is replicated to workers. */
export interface NetworkState {
  readonly pool: PoolState;
  readonly store: StoreState;
}

/** An Ethereum network, with its index, ingest, nodes and methods. */
export interface EthereumNetwork {
  readonly methods: readonly Method[];
  readonly live: Live;
  readonly pool: NodePool;
  nodes(): readonly NodeGauges[];
  index(): Promise<IndexStatus>;
  state(): NetworkState;
  /** Handles a worker's report: a node is unhealthy or, if `why` is undefined, its chain must be verified again. */
  reportNodeFault(node: number, why: NodeRemoval | undefined): void;
  /** Handles a worker's report of damage in the index of the data folder. */
  noteDamage(part: DamagedPart): void;
  ensure: IndexFiller['ensure'];
  charge: IndexFiller['charge'];
  /** Returns why the index is not ready, as text; undefined if it is ready. */
  notReady(): string | undefined;
  unavailable(): readonly UnavailableBlock[];
  stop(): Promise<void>;
}

/** Progress of an index, its newest block and its indexing speed. */
export interface IndexStatus extends IndexerStatus {
  readonly headBlock: number | undefined;
  readonly blocksPerSecond: number;
}

export async function startEthereumNetwork(
  options: EthereumNetworkOptions,
  dependencies: EthereumNetworkDependencies,
): Promise<EthereumNetwork> {
  const { table, store, combined, filterMemory, accessWatch, newBlocks, ingestMetrics } = dependencies;
  const { logger, tracer, followers } = dependencies;
  const { name, config } = options;
  checkAgreement(options);
  const finality = finalityOf(config.index);
  const network = await connect(options, dependencies);
  const { pool } = network;
  const source = new PooledSource(pool, {
    onFailover: (node, what, { reason, message }) =>
      logger.warn(
        { network: name, node: node.name, host: node.client.host, what, reason, detail: message },
        'upstream returned no data; retrying with other nodes',
      ),
    beginBlock: tracer && beginBlockWith(tracer, name),
  });
  const live = new Live(network);
  const filters = new Filters({ network, live, memory: filterMemory, accessWatch });
  const { pollIntervalMs } = config.index;
  const shared = sharedWork(options, { ...dependencies, source });
  const indexer = new Indexer(
    {
      pollIntervalMs,
      onDemandBytes: config.index.onDemandBytes,
      ...(shared && { sharedHead: shared.head }),
      ...(finality && { finality }),
      ...(options.indexFrom !== undefined && { fromBlock: options.indexFrom }),
    },
    {
      store,
      local: combined?.local,
      source,
      observer: new IngestReport(logger, ingestMetrics, name),
      followed(change) {
        shared?.followed();
        live.indexChanged(change);
        followers?.stateChanged(name);
        followers?.followed(name, change);
      },
      beginWrite: tracer && beginWriteWith(tracer, name),
      noSpace: dependencies.noSpace,
    },
  );
  pool.onHead(() => {
    indexer.headChanged();
    live.headChanged();
  });
  pool.onState(() => followers?.stateChanged(name));
  ingestMetrics.watch(name, { status: () => indexer.status(), onDemandBytes: () => store.onDemand?.bytes() });
  indexer.start();

  const filler = fillerOf(indexer, newBlocks);
  const services = {
    network,
    filters: ({ name }: FilterRow) => filters.handler(name),
    index: { store, indexer: filler, finder: source, maxAnswerBytes: config.gateway.maxAnswerBytes },
    description: (limits: CallLimits) => Buffer.from(JSON.stringify(openRpcDocument(name, table, limits))),
  };
  return {
    pool,
    live,
    state: () => ({ pool: pool.state, store: network.cache.storeState }),
    reportNodeFault(place, why) {
      const node = pool.nodes[place];
      if (node === undefined) return;
      if (why === undefined) node.isChainVerified = false;
      else {
        if (why.health === 'quarantined') network.cache.distrust(node.name);
        pool.removeFromRotation(node, why);
      }
    },
    noteDamage: (part) => (combined?.local ?? store).noteDamage?.([part]),
    ensure: (fromBlock, toBlock, client) => filler.ensure(fromBlock, toBlock, client),
    charge: (blocks, client) => filler.charge(blocks, client),
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
    notReady: () => notReady(indexer.status()),
    unavailable: () => indexer.status().unavailable,
    async stop() {
      filters.stop();
      live.stop();
      await shared?.stop();
      // The indexer may wait for a node, whose connections the pool closes.
      await Promise.all([indexer.stop(), pool.stop()]);
      await store.close();
    },
  };
}

/** Starts the work for the index that servers share; undefined if there is none. */
function sharedWork(
  { name, config, indexFrom }: EthereumNetworkOptions,
  {
    combined,
    writer,
    source,
    logger,
    ingestMetrics,
  }: EthereumNetworkDependencies & { readonly source: TraceProvider },
): SharedIndexWork | undefined {
  if (combined === undefined) return undefined;
  return followSharedIndex(
    { pollIntervalMs: config.index.pollIntervalMs, finality: finalityOf(config.index), fromBlock: indexFrom },
    {
      combined,
      writer,
      source,
      logger: logger.child({ network: name }),
      report: new IngestReport(logger, ingestMetrics, name),
    },
  );
}

/**
 * Connects to the nodes of a network. If their chains differ from each other or from that of the index, closes the
 * index and rejects.
 */
async function connect(
  { name, upstream, config }: EthereumNetworkOptions,
  { store, answers, metrics, logger }: EthereumNetworkDependencies,
): ReturnType<typeof startNetwork> {
  try {
    const chain = await store.chain();
    return await startNetwork(
      { ...networkOptions({ name, upstream, config }), chain },
      { store: answers, metrics, log: logger },
    );
  } catch (error) {
    await store.close();
    throw error instanceof ChainMismatchError ? new ConfigError(`network ${name}: ${error.message}`) : error;
  }
}

/** Returns an index filler that limits the blocks which are fetched for each client. */
const fillerOf = (indexer: Indexer, newBlocks: NewBlocks): IndexFiller => ({
  get lastHeads() {
    return indexer.lastHeads;
  },
  freshHeads: () => indexer.freshHeads(),
  ensure: (fromBlock, toBlock, client) => indexer.ensure(fromBlock, toBlock, newBlocks.meterOf(client)),
  charge: (blocks, client) => newBlocks.meterOf(client).charge(blocks),
});

function notReady({ lagBlocks, failure }: IndexerStatus): string | undefined {
  // During a failure, the heads of the nodes are unknown, and so is the lag.
  if (failure !== undefined) return `indexing waits: ${failure}`;
  if (lagBlocks === undefined) return 'the node has not answered yet';
  if (lagBlocks > MAX_READY_LAG_BLOCKS) return `the index is ${lagBlocks} blocks behind the node`;
  return undefined;
}

export const networkOptions = ({
  name,
  upstream,
  config,
}: Pick<EthereumNetworkOptions, 'name' | 'upstream' | 'config'>): Omit<
  Parameters<typeof startNetwork>[0],
  'chain'
> => ({
  name,
  finality: finalityOf(config.index),
  upstreams: upstream,
  pollIntervalMs: config.index.pollIntervalMs,
  timeoutMs: config.gateway.requestTimeoutMs,
  nodeWaitMs: config.gateway.nodeWaitMs,
  maxAnswerBytes: config.gateway.maxAnswerBytes,
  traceLimits: config.index,
  cacheMemoryBytes: config.gateway.cacheMemoryBytes,
  agreementMethods: config.gateway.agreement.methods,
});

/** Returns a network's methods, one per row. With `floodgate_addressTraces`, adds the explorer's methods. */
export function methodsOf(table: readonly MethodRow[], services: Parameters<typeof methodOf>[1]): Method[] {
  const methods = table.map((row) => methodOf(row, services));
  if (!table.some((row) => row.name === EXPLORER_PERMISSION)) return methods;
  const { index, network } = services;
  const chainId = (): string | undefined => decimalChainId(network.pool.chainId);
  return [
    ...methods,
    explorerMethod(index, chainId),
    blockByTimeMethod({
      index,
      chainId,
      final: () => network.pool.heads.final,
      block: nodeRequester(network, 'eth_getBlockByNumber'),
    }),
  ];
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

/** Throws ConfigError if `gateway.agreement` requires several nodes, but the network has only one. */
function checkAgreement({ name, upstream, config }: EthereumNetworkOptions): void {
  if (config.gateway.agreement.methods.length > 0 && upstream.length < 2)
    throw new ConfigError(
      `gateway.agreement.methods requires two or more nodes, but network ${name} has one`,
    );
}
