import { type Config, networksOf } from '../../config/index.ts';
import { CONNECTIONS_PER_NODE } from '../../ethereum/nodes/index.ts';
import { proxyMatcher } from '../../platform/addresses/index.ts';
import { ConnectionLimits, type ConnectionLimitsOptions } from '../../platform/http/index.ts';
import { adviceFor, openFilesLimit } from '../data/openFiles.ts';
import { relayPathOf } from './relayedRequests.ts';
import { MAX_WAITING_CONNECTIONS } from './waitingConnections.ts';

/** Default maximum of HTTP connections. Idle ones need 10 to 13 KB each, so they use about 200 MB. */
const DEFAULT_MAX = 16_384;
/** A lower maximum is logged, unless it is configured. */
const USUAL_MAX = 1_024;
/** A process serves at least this number of HTTP connections, whatever its limit of open files. */
const LEAST = 16;
/** Assumed limit of open files if the system does not show it. */
const ASSUMED_LIMIT = 4_096;
/** Descriptors for stores, logs, databases and Node.js, and for connections that are about to close. */
const FILES = 96 + 64;
/** Part of the remaining descriptors that HTTP gets if the limit is too low for all. */
const LEAST_PART = 1 / 4;
/** Part of the maximum that is reserved for a separate operators' listener, within these bounds. */
const OPERATORS_PART = 1 / 8;
const [LEAST_OF_OPERATORS, MOST_OF_OPERATORS] = [8, 256];

export interface MaxConnectionsOptions {
  /** Descriptors that the DNS guard may open in this process. */
  readonly dnsDescriptors: number;
  /** Connections that may wait for a worker. */
  readonly waiting: number;
  /** Number of processes that share the default maximum. */
  readonly processes: number;
  /** Descriptors of this process per HTTP connection: two if requests are relayed to another process. */
  readonly perConnection: 1 | 2;
  readonly limit?: number;
}

/** Returns the maximum number of HTTP connections of this process. Logs if the limit of open files lowers it. */
export function maxConnectionsOf(
  config: Config,
  {
    dnsDescriptors,
    waiting,
    processes,
    perConnection,
    limit = openFilesLimit() ?? ASSUMED_LIMIT,
  }: MaxConnectionsOptions,
  log: ConnectionLimitsOptions['log'],
): number {
  const { maxConnections: configured } = config.http;
  const nodes = [...networksOf(config).values()].flatMap(({ upstream }) => upstream).length;
  const others = FILES + dnsDescriptors + waiting + nodes * CONNECTIONS_PER_NODE;
  const fitting = Math.floor(Math.max(limit - others, LEAST_PART * (limit - FILES)) / perConnection);
  const wanted = configured ?? Math.floor(DEFAULT_MAX / processes);
  const max = Math.min(wanted, Math.max(LEAST, fitting));
  const sufficient = Math.min(wanted, configured ?? USUAL_MAX);
  if (max < sufficient) {
    const advice = adviceFor(others + perConnection * sufficient);
    log.warn({ limit, maxConnections: max, dnsDescriptors, advice }, 'low limit of open files');
  }
  return max;
}

export interface ConnectionLimitsOf {
  /** Number of workers; 1 if there are none. */
  readonly workers: number;
  /** Undefined in a worker. */
  readonly first?: { readonly dnsDescriptors: number; readonly hasTwoListeners: boolean };
}

/** Returns the limits on the HTTP connections of this process. A worker's configuration already contains its part. */
export function connectionLimitsOf(
  config: Config,
  { workers, first }: ConnectionLimitsOf,
  { metrics, log }: Pick<ConnectionLimitsOptions, 'metrics' | 'log'>,
): ConnectionLimits {
  const isFirstOfSeveral = first !== undefined && workers > 1;
  const isRelaying = first === undefined && relayPathOf(config) !== undefined;
  const max = maxConnectionsOf(
    config,
    {
      dnsDescriptors: first?.dnsDescriptors ?? 0,
      waiting: isFirstOfSeveral ? MAX_WAITING_CONNECTIONS : 0,
      processes: first === undefined ? workers : 1,
      perConnection: isRelaying ? 2 : 1,
    },
    log,
  );
  const part = Math.max(LEAST_OF_OPERATORS, Math.min(MOST_OF_OPERATORS, Math.floor(OPERATORS_PART * max)));
  const reserved = first?.hasTwoListeners === true ? part : 0;
  return new ConnectionLimits({
    max,
    reserved,
    isProxy: proxyMatcher(config.http.trustedProxies),
    metrics,
    log,
  });
}
