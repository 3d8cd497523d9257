import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError, networksOf } from '../config/index.ts';
import {
  extraRow,
  GatewayMetrics,
  type KeyStore,
  type Live,
  METHODS,
  type Method,
  type MethodRow,
  type SharedKeys,
  SUBSCRIBE,
  whyNotExtra,
} from '../ethereum/gateway/index.ts';
import type { NodePool } from '../ethereum/nodes/index.ts';
import { openTraceStore, type TraceStoreOptions } from '../ethereum/store/lmdb/traces/index.ts';
import type { Awaitable, TraceStore } from '../ethereum/traces/index.ts';
import { LastUses } from '../platform/lastUses/index.ts';
import type { Tracer } from '../platform/spans/index.ts';
import { timestampOfMillis } from '../rules/index.ts';
import { type EthereumNetwork, type Followers, startEthereumNetwork } from './ethereumNetwork.ts';
import { gatewayStorageOf } from './gatewayStorage.ts';
import { IngestMetrics } from './ingestMetrics.ts';
import { openIndex } from './openIndex.ts';
import type { Opened } from './roles.ts';
import { upgradeReport } from './upgradeReport.ts';

/** The Ethereum half of the server: all networks, with the methods that their indexes and nodes answer. */
export interface Ethereum {
  readonly methods: ReadonlyMap<string, readonly Method[]>;
  /** What is pushed of each network. */
  readonly live: ReadonlyMap<string, Live>;
  /** The nodes of each network. */
  readonly pools: ReadonlyMap<string, NodePool>;
  readonly keys: KeyStore;
  readonly keyUses: LastUses;
  readonly metrics: GatewayMetrics;
  readonly networks: ReadonlyMap<string, EthereumNetwork>;
  /** What is missing for the networks to be ready; undefined where nothing is. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** What every network is made of: a further engine for the index, or another table of methods, is put in here. */
export interface EthereumParts {
  /** The methods that can be served. */
  readonly table: readonly MethodRow[];
  /** Opens the index of a network, whose folder this is where the engine is embedded. */
  readonly openTraceStore: (folder: string, options: TraceStoreOptions) => Awaitable<TraceStore>;
}

export const OWN_PARTS: EthereumParts = { table: METHODS, openTraceStore };

export interface EthereumDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly parts: EthereumParts;
  readonly opened: Opened;
  readonly tracer: Tracer | undefined;
  /** API keys that instances share; those of the data folder where left out. */
  readonly sharedKeys: SharedKeys | undefined;
  /** Processes that answer from the indexes too; undefined where there are none. */
  readonly followers: Followers | undefined;
}

/** Starts every network. Rejects with ConfigError, and nothing left open, where one cannot be served as configured. */
export async function startEthereum(
  config: Config,
  { logger, registry, parts, opened, tracer, sharedKeys, followers }: EthereumDependencies,
): Promise<Ethereum> {
  const [hasGateway, isIndexing] = [opened.has('gateway'), opened.has('indexing')];
  const served = servedTable(config, parts.table);
  const table = hasGateway ? served : [];
  if (config.gateway.extraMethods.length > 0)
    logger.info(
      { methods: config.gateway.extraMethods },
      'methods are relayed that the operator has named: nothing of them is checked or cached',
    );
  const { cacheDiskBytes, filterSecret: sharedSecret } = config.gateway;
  const storage = gatewayStorageOf({ dataDir: config.dataDir, cacheDiskBytes, hasGateway });
  const metrics = new GatewayMetrics(registry);
  const keyUses = new LastUses({ timestampOf: timestampOfMillis }, storage.keys);
  metrics.keyCalls.used = (id) => keyUses.used(id);
  const ingestMetrics = new IngestMetrics(registry);
  const filterSecret = sharedSecret === undefined ? storage.filterSecret : Buffer.from(sharedSecret);
  const networks = new Map<string, EthereumNetwork>();
  const stop = async (): Promise<void> => {
    for (const network of networks.values()) await network.stop();
    await keyUses.stop();
    await storage.close();
  };
  try {
    // A gateway that needed keys does not open because they are looked for elsewhere now.
    const keysTaken = await sharedKeys?.takeOver(storage.keys.entries());
    if (keysTaken) logger.info({ keys: keysTaken }, 'API keys of the data folder are in the database now');
    for (const [name, { upstream, indexFrom }] of networksOf(config))
      networks.set(
        name,
        await startEthereumNetwork(
          { name, upstream, indexFrom, config, isFollower: !isIndexing },
          {
            table,
            store: await openIndex(
              {
                ...{ config, network: name, upgrade: upgradeReport(logger, name) },
                use: { answers: hasGateway, writes: isIndexing },
              },
              { logger, openTraceStore: parts.openTraceStore },
            ),
            ...{ answers: storage.answers, filterSecret },
            metrics,
            ingestMetrics,
            ...{ logger, tracer, followers },
          },
        ),
      );
  } catch (error) {
    await stop();
    throw error;
  }
  metrics.watchNodes(() => new Map([...networks].map(([name, network]) => [name, network.nodes()])));
  return {
    methods: new Map([...networks].map(([name, network]) => [name, network.methods])),
    live: new Map([...networks].map(([name, { live }]) => [name, live])),
    pools: new Map([...networks].map(([name, { pool }]) => [name, pool])),
    networks,
    keys: sharedKeys ?? storage.keys,
    keyUses,
    metrics,
    notReady() {
      const missing = [...networks].flatMap(([name, network]) => {
        const reason = network.notReady();
        return reason === undefined ? [] : networks.size === 1 ? reason : `${name}: ${reason}`;
      });
      return missing.length === 0 ? undefined : missing.join('; ');
    },
    stop,
  };
}

/** All methods that are served. Throws ConfigError. */
export function servedTable(config: Config, table: readonly MethodRow[]): readonly MethodRow[] {
  const { methods, agreement } = config.gateway;
  checkMethods('gateway.methods', methods, [...table, { name: SUBSCRIBE }]);
  const readers = table.filter((row) => 'result' in row && row.once !== true);
  checkMethods('gateway.agreement.methods', agreement.methods, readers);
  return [...servedRows(table, methods), ...extraRows(config, table)];
}

/** The rows of the table that the operator has left; that which tells of the others always is. */
const servedRows = (table: readonly MethodRow[], wanted: readonly string[]): readonly MethodRow[] =>
  table.filter(({ name, scope }) => wanted.length === 0 || wanted.includes(name) || scope.of === 'table');

/** The rows of the methods that the operator has named besides. Throws ConfigError. */
function extraRows({ gateway }: Config, table: readonly MethodRow[]): readonly MethodRow[] {
  const known = table.map(({ name }) => name);
  return gateway.extraMethods.map((name, i) => {
    const served = [...known, ...gateway.extraMethods.slice(0, i)];
    const reason = whyNotExtra(name, served);
    if (reason !== undefined)
      throw new ConfigError(
        `gateway.extraMethods names ${name}, which ${reason}; allowed: further methods of the nodes, but none of ` +
          'debug_*, admin_*, personal_*, engine_*, miner_*, eth_sign*, eth_sendTransaction, evm_*, anvil_*, hardhat_*',
      );
    return extraRow(name);
  });
}

/** What the table has not is not in `gateway.methods`: see `gateway.extraMethods`. */
function checkMethods(
  option: string,
  wanted: readonly string[],
  table: readonly { readonly name: string }[],
): void {
  const served = table.map(({ name }) => name);
  const unknown = wanted.filter((name) => !served.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(
      `${option} names ${unknown.join(', ')}, which the gateway cannot serve; allowed: ${served.join(', ')}`,
    );
}
