import { availableParallelism } from 'node:os';
import { type Config, ConfigError } from '../../config/index.ts';
import { isSocketPath } from '../../platform/http/index.ts';
import type { Opened } from '../roles.ts';
import { relayPathOf } from './operatorsRelay.ts';

/** How many processes answer the gateway beside the first; 1: it does so itself. Throws ConfigError where something does not fit to more. */
export function workersOf(config: Config, opened: Opened): number {
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count > 1) checkWorkers(config, count, opened);
  return count;
}

export function checkWorkers(config: Config, count: number, opened: Opened): void {
  const refuse = (option: string, because: string, instead: string): never => {
    throw new ConfigError(
      `workers (FLOODGATE_WORKERS, --workers) is ${config.workers}, that is ${count} processes, and ${option}: ${because}; allowed: ${instead}`,
    );
  };
  if (!opened.has('gateway'))
    refuse(
      'this server has no gateway',
      'it is the gateway that workers answer',
      'workers 1, or a role with gateway',
    );
  const relayPath = relayPathOf(config);
  if (relayPath !== undefined && !isSocketPath(relayPath))
    refuse(
      `dataDir is ${config.dataDir}`,
      'workers meet the first process at a socket in it, and the path of one has 103 bytes at most',
      'a shorter path, a link to it for example, or ops.port (FLOODGATE_OPS_PORT, --ops-port)',
    );
  for (const path of DIVIDED) {
    const value = numberAt(config, path);
    if (value > 0 && value < count)
      refuse(
        `${path} is ${value}`,
        'each worker has its part of it',
        `workers of at most ${value}, or ${path} of at least ${count}`,
      );
  }
}

/** Limits of the machine of which each worker has its part. */
const DIVIDED = [
  'http.maxUnsentBytes',
  'http.maxUnsentBytesPerAddress',
  'gateway.maxInFlight',
  'gateway.cacheMemoryBytes',
  'gateway.webSocket.maxConnections',
  'gateway.webSocket.maxConnectionsPerAddress',
  'gateway.webSocket.maxConnectionsPerKey',
  'gateway.webSocket.maxSubscriptionsPerAddress',
  'gateway.webSocket.maxSubscriptionsPerKey',
  'index.cacheBytes',
] as const;

type Tree = { [name: string]: unknown };

/** The configuration of one of several workers: together they stay within what is configured. */
export function partOf(config: Config, count: number): Config {
  const part = structuredClone(config) as unknown as Tree;
  for (const path of DIVIDED) {
    const [names, last] = split(path);
    const group = names.reduce((tree, name) => tree[name] as Tree, part); // as the schema has it
    group[last] = Math.floor(numberAt(config, path) / count);
  }
  return part as unknown as Config;
}

const numberAt = (config: Config, path: string): number => {
  const [names, last] = split(path);
  return names.reduce((tree, name) => tree[name] as Tree, config as unknown as Tree)[last] as number; // as the schema has it
};

function split(path: string): readonly [string[], string] {
  const names = path.split('.');
  return [names.slice(0, -1), names.at(-1) ?? path];
}

/** Options that workers alone go by. */
const RELOADED = ['gateway', 'http', 'tls'] as const;

export interface Reloaded {
  readonly config: Config;
  /** Options that were changed too, and stay as they are until the next start. */
  readonly kept: readonly string[];
}

/** What a reload goes by: of what was changed, that which workers alone need. */
export function reloaded(before: Config, now: Config): Reloaded {
  const own: readonly string[] = RELOADED;
  const changed = (Object.keys({ ...before, ...now }) as (keyof Config)[]).filter(
    (name) => !own.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(now[name]),
  );
  const { gateway, http, tls } = now;
  return { config: { ...before, gateway, http, tls }, kept: changed };
}
