/** The parts that each role opens. docs/operate/scale.md describes this table for operators. */
import { Gauge, type Registry } from 'prom-client';
import { type Config, ROLES, type Role, rolesOf } from '../config/index.ts';

/** A part of a server. A server's roles determine its parts. Every server also has health and metrics. */
export type Part =
  /** Connections to the nodes, and readers of the index. */
  | 'nodes'
  /** The `/v1` paths, with cached responses and API keys. */
  | 'gateway'
  /** The writer of the index. */
  | 'indexing'
  | 'rulesStore'
  /** The `/client/v4` paths and the console. */
  | 'rulesApi'
  /** DNS sockets and the learned profile. */
  | 'guard';

const OPENS: Readonly<Record<Role, readonly Part[]>> = {
  gateway: ['nodes', 'gateway'],
  ingest: ['nodes', 'indexing'],
  rules: ['rulesStore', 'rulesApi'],
  guard: ['rulesStore', 'guard'],
};

export interface OpenedParts {
  readonly roles: readonly Role[];
  has(part: Part): boolean;
}

/** Returns the roles and parts of a configuration. Throws ConfigError if the roles are invalid. */
export function openedPartsOf(config: Config): OpenedParts {
  const roles = rolesOf(config);
  const parts = new Set(roles.flatMap((role) => OPENS[role]));
  // Gateways share their API keys through the rules store.
  if (parts.has('gateway') && config.rules.store !== undefined) parts.add('rulesStore');
  return { roles, has: (part) => parts.has(part) };
}

export function registerRoleMetrics(registry: Registry, { roles }: OpenedParts): void {
  const gauge = new Gauge({
    name: 'floodgate_role',
    help: '1 for each role that this server has, and 0 for the others.',
    labelNames: ['role'],
    registers: [registry],
  });
  for (const role of ROLES) gauge.set({ role }, roles.includes(role) ? 1 : 0);
}
