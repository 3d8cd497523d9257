import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError, networksOf } from '../../config/index.ts';
import {
  AccessWatch,
  debugRows,
  extraMethodError,
  extraRow,
  FilterMemory,
  GatewayMetrics,
  type KeyStore,
  METHODS,
  type MethodRow,
  NewBlocks,
  type SharedKeys,
  type StoredKey,
  SUBSCRIBE,
} from '../../ethereum/gateway/index.ts';
import { openTraceStore, type TraceStoreOptions } from '../../ethereum/store/lmdb/traces/index.ts';
import type { EmbeddedTraceStore, MaybePromise } from '../../ethereum/traces/index.ts';
import { LastUsedTracker } from '../../platform/lastUses/index.ts';
import type { Scheduler } from '../../platform/scheduler/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import { StoreUnavailable, timestampOfMillis } from '../../rules/index.ts';
import { gatewayStorageOf } from '../data/gatewayStorage.ts';
import type { FreeSpace } from '../health/freeSpace.ts';
import { IngestMetrics } from '../health/ingestMetrics.ts';
import { TraceStoreWatch } from '../health/traceStoreWatch.ts';
import { openIndex, openSharedIndex } from '../jobs/openIndex.ts';
import { unavailableText } from '../jobs/unavailableText.ts';
import type { OpenedParts } from '../roles.ts';
import { type EthereumNetwork, type Replicas, startEthereumNetwork } from './ethereumNetwork.ts';

const IMPORT_RETRY_MS = 1_000;

/** Ethereum part of the server: all networks with their methods, indexes and nodes. */
export interface Ethereum {
  readonly keys: KeyStore;
  readonly keyUses: LastUsedTracker;
  readonly metrics: GatewayMetrics;
  /** Memory of the filters and subscriptions of this process. */
  readonly filterMemory: FilterMemory;
  readonly networks: ReadonlyMap<string, EthereumNetwork>;
  /** Returns why networks are not ready, as text; undefined if all are ready. */
  notReady(): string | undefined;
  /** Returns a text about the blocks that no node can trace; undefined if there are none. */
  unavailable(): string | undefined;
  stop(): Promise<void>;
}

/** Parts that the caller may replace: the table of methods, and the storage engine of the index. */
export interface EthereumParts {
  readonly table: readonly MethodRow[];
  /** Opens the trace index of a network. Only an embedded storage engine uses `folder`. */
  readonly openTraceStore: (folder: string, options: TraceStoreOptions) => MaybePromise<EmbeddedTraceStore>;
}

export const OWN_PARTS: EthereumParts = { table: METHODS, openTraceStore };

export interface EthereumDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly scheduler: Scheduler;
  readonly parts: EthereumParts;
  readonly opened: OpenedParts;
  readonly freeSpace: Pick<FreeSpace, 'allows' | 'problem'>;
  readonly tracer: Tracer | undefined;
  /** API keys shared by several instances. Default: the keys in the data folder. */
  readonly sharedKeys: SharedKeys | undefined;
  /** Workers that also read the indexes; undefined if there are none. */
  readonly followers: Replicas | undefined;
}

/**
 * Starts all configured networks. If one cannot be started, closes everything and rejects, with ConfigError if its
 * configuration is wrong.
 */
export async function startEthereum(
  config: Config,
  {
    logger,
    registry,
    scheduler,
    parts,
    opened,
    freeSpace,
    tracer,
    sharedKeys,
    followers,
  }: EthereumDependencies,
): Promise<Ethereum> {
  const [hasGateway, isIndexing] = [opened.has('gateway'), opened.has('indexing')];
  const served = servedTable(config, parts.table);
  const table = hasGateway ? served : [];
  if (config.gateway.extraMethods.length > 0)
    logger.info(
      { methods: config.gateway.extraMethods },
      'extra methods are relayed without checks or caching',
    );
  const shared = config.traceStore === undefined ? undefined : await openSharedIndex(config.traceStore);
  const watch = shared && new TraceStoreWatch(shared, { logger, registry });
  const { cacheDiskBytes } = config.gateway;
  const storage = gatewayStorageOf({
    dataDir: config.dataDir,
    cacheDiskBytes,
    hasGateway,
    storesAnswers: () => freeSpace.allows('caches'),
  });
  const metrics = new GatewayMetrics(registry);
  const keyUses = new LastUsedTracker({ timestampOf: timestampOfMillis }, storage.keys);
  metrics.keyCalls.used = (id) => keyUses.used(id);
  const filterMemory = new FilterMemory({ refused: () => metrics.limited('filter_bytes') });
  if (hasGateway) metrics.watchFilterBytes(() => filterMemory.total);
  const keys = sharedKeys ?? storage.keys;
  const accessWatch = new AccessWatch(keys);
  const ingestMetrics = new IngestMetrics(registry);
  const newBlocks = new NewBlocks(config.gateway.limits.traceFilterBlocks, {
    scheduler,
    limited: () => metrics.limited('new_blocks'),
  });
  const noSpace = (): string | undefined => (freeSpace.allows('traces') ? undefined : freeSpace.problem);
  const networks = new Map<string, EthereumNetwork>();
  const stop = async (): Promise<void> => {
    for (const network of networks.values()) await network.stop();
    watch?.stop();
    await shared?.close();
    await keyUses.stop();
    await storage.close();
  };
  try {
    // API keys in the data folder are moved to the database. Otherwise a gateway that required keys would become open
    // to all.
    const keysTaken = sharedKeys && (await importKeys(sharedKeys, storage.keys.entries()));
    if (keysTaken) logger.info({ keys: keysTaken }, 'API keys moved from the data folder to the database');
    for (const [name, { upstream, indexFrom }] of networksOf(config))
      networks.set(
        name,
        await startEthereumNetwork(
          { name, upstream, indexFrom, config },
          {
            table,
            ...(await openIndex(config, name, { openTraceStore: parts.openTraceStore, shared })),
            writer: isIndexing ? shared?.writer : undefined,
            answers: storage.answers,
            filterMemory,
            accessWatch,
            newBlocks,
            noSpace,
            metrics,
            ingestMetrics,
            logger,
            tracer,
            followers,
          },
        ),
      );
  } catch (error) {
    await stop();
    throw error;
  }
  /** Joins the texts about all networks. If there are several networks, each text begins with the network's name. */
  const ofEach = (textOf: (network: EthereumNetwork) => string | undefined): string | undefined => {
    const texts = [...networks].flatMap(([name, network]) => {
      const text = textOf(network);
      return text === undefined ? [] : networks.size === 1 ? text : `${name}: ${text}`;
    });
    return texts.length === 0 ? undefined : texts.join('; ');
  };
  metrics.watchNodes(() => new Map([...networks].map(([name, network]) => [name, network.nodes()])));
  return {
    networks,
    keys,
    keyUses,
    metrics,
    filterMemory,
    notReady: () => ofEach((network) => network.notReady()),
    unavailable: () => ofEach((network) => unavailableText(network.unavailable())),
    stop,
  };
}

/** Imports API keys into the database. Waits while it is away, because the gateway must not open without these keys. */
async function importKeys(shared: SharedKeys, stored: readonly StoredKey[]): Promise<number> {
  for (;;) {
    try {
      return await shared.importKeys(stored);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(IMPORT_RETRY_MS);
    }
  }
}

/** Returns the rows of all served methods. Throws ConfigError if an option names a method that cannot be served. */
export function servedTable(config: Config, all: readonly MethodRow[]): readonly MethodRow[] {
  const { methods, agreement, debugTracers } = config.gateway;
  const debug = debugTracers.length === 0 ? [] : debugRows(debugTracers);
  const table = all.flatMap((row): readonly MethodRow[] =>
    'traces' in row ? debug.filter(({ name }) => name === row.name) : [row],
  );
  checkMethods('gateway.methods', methods, [...table, { name: SUBSCRIBE }]);
  const readers = table.filter((row) => 'result' in row && row.once !== true);
  checkMethods('gateway.agreement.methods', agreement.methods, readers);
  return [...servedRows(table, methods), ...extraRows(config, table)];
}

/** Returns the rows that `gateway.methods` enables. The method that describes all other methods is always served. */
const servedRows = (table: readonly MethodRow[], wanted: readonly string[]): readonly MethodRow[] =>
  table.filter(({ name, scope }) => wanted.length === 0 || wanted.includes(name) || scope.of === 'table');

/** Returns rows for the methods in `gateway.extraMethods`. Throws ConfigError if one of these is not allowed. */
function extraRows({ gateway }: Config, table: readonly MethodRow[]): readonly MethodRow[] {
  const known = table.map(({ name }) => name);
  return gateway.extraMethods.map((name, i) => {
    const served = [...known, ...gateway.extraMethods.slice(0, i)];
    const reason = extraMethodError(name, served);
    if (reason !== undefined)
      throw new ConfigError(
        `gateway.extraMethods contains ${name}, which ${reason}; allowed: other methods of the nodes, except ` +
          'debug_*, admin_*, personal_*, engine_*, miner_*, eth_sign*, eth_sendTransaction, evm_*, anvil_*, hardhat_*',
      );
    return extraRow(name);
  });
}

/** Throws ConfigError if an option names a method outside the table, which belongs in `gateway.extraMethods`. */
function checkMethods(
  option: string,
  wanted: readonly string[],
  table: readonly { readonly name: string }[],
): void {
  const served = table.map(({ name }) => name);
  const unknown = wanted.filter((name) => !served.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(
      `${option} contains ${unknown.join(', ')}, which the gateway cannot serve; allowed: ${served.join(', ')}`,
    );
}
