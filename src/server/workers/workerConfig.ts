import { availableParallelism } from 'node:os';
import { type Config, ConfigError } from '../../config/index.ts';
import { isSocketPath } from '../../platform/http/index.ts';
import { relayPathOf } from '../listen/relayedRequests.ts';
import type { OpenedParts } from '../roles.ts';

/** Options that limit the whole server. Each worker gets an equal part of each limit. */
const DIVIDED = [
  'http.maxUnsentBytes',
  'http.maxConnections',
  'gateway.maxInFlight',
  'gateway.cacheMemoryBytes',
  'gateway.webSocket.maxConnections',
  'gateway.webSocket.maxConnectionsPerAddress',
  'gateway.webSocket.maxSubscriptionsPerAddress',
  'index.cacheBytes',
] as const;

/**
 * Returns the number of workers; 1 if the first process serves the gateway itself. Throws ConfigError if other
 * options do not permit this number.
 */
export function workersOf(config: Config, opened: OpenedParts): number {
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count > 1) checkWorkers(config, count, opened);
  return count;
}

/** Throws ConfigError if options do not fit the number of workers. */
export function checkWorkers(config: Config, count: number, opened: OpenedParts): void {
  const refuse = (option: string, because: string, instead: string): never => {
    throw new ConfigError(
      `workers (FLOODGATE_WORKERS, --workers) is ${config.workers}, that is ${count} processes, and ${option}: ${because}; allowed: ${instead}`,
    );
  };
  if (!opened.has('gateway'))
    refuse('this server has no gateway', 'workers answer the gateway', 'workers 1, or a role with gateway');
  const relayPath = relayPathOf(config);
  if (relayPath !== undefined && !isSocketPath(relayPath))
    refuse(
      `dataDir is ${config.dataDir}`,
      'workers reach the first process at a socket in it, and the path of a socket has at most 103 bytes',
      'a shorter path, for example a link to it, or ops.port (FLOODGATE_OPS_PORT, --ops-port)',
    );
  for (const { path, value } of dividedOptions(config))
    if (value > 0 && value < count)
      refuse(
        `${path} is ${value}`,
        'each worker gets an equal part of it',
        `workers of at most ${value}, or ${path} of at least ${count}`,
      );
}

/** Returns the configuration of one of `count` workers. */
export function partOf(config: Config, count: number): Config {
  const part = structuredClone(config);
  for (const { group, name, value } of dividedOptions(part)) group[name] = Math.floor(value / count);
  return part;
}

function* dividedOptions(config: Config) {
  for (const path of DIVIDED) {
    const names = path.split('.');
    const name = names.pop() ?? path;
    // The schema defines the options in DIVIDED as numbers.
    const group = names.reduce<object>((from, one) => from[one as never], config) as Record<string, number>;
    const value = group[name];
    if (value !== undefined) yield { path, group, name, value };
  }
}

/**
 * Returns the configuration after a reload, and the names of changed options that need a restart and are ignored. Only
 * workers use `gateway`, `http` and `tls`, and a reload replaces the workers.
 */
export function reloaded(
  before: Config,
  now: Config,
  hasWorkers: boolean,
): { readonly config: Config; readonly ignored: readonly string[] } {
  const { gateway, http, tls } = now;
  const config = hasWorkers ? { ...before, gateway, http, tls } : before;
  // The server reads the files of the console again.
  const textOf = (of: Config, name: keyof Config): string =>
    JSON.stringify(name === 'console' ? of.console.enabled : of[name]);
  const names = Object.keys({ ...before, ...now }) as (keyof Config)[];
  return { config, ignored: names.filter((name) => textOf(config, name) !== textOf(now, name)) };
}
