/** What each role opens: the composition root goes by this table. docs/scale.md has it in words. */
import { Gauge, type Registry } from 'prom-client';
import { type Config, ROLES, type Role, rolesOf } from '../config/index.ts';

/** What a server may open. Health and metrics are served by all. */
export type Part =
  /** Connections to the nodes, and the index. */
  | 'nodes'
  /** `/v1`, with cached answers and API keys. */
  | 'gateway'
  /** Writing the index. */
  | 'indexing'
  | 'rulesStore'
  /** `/client/v4` and the console. */
  | 'rulesApi'
  /** Sockets for DNS, and what the guard learns. */
  | 'guard';

const OPENS: Readonly<Record<Role, readonly Part[]>> = {
  gateway: ['nodes', 'gateway'],
  ingest: ['nodes', 'indexing'],
  rules: ['rulesStore', 'rulesApi'],
  guard: ['rulesStore', 'guard'],
};

/** What a server is for, and what it opens for that. */
export interface Opened {
  readonly roles: readonly Role[];
  has(part: Part): boolean;
}

/** Throws ConfigError. */
export function openedBy(config: Config): Opened {
  const roles = rolesOf(config);
  const parts = new Set(roles.flatMap((role) => OPENS[role]));
  // API keys that gateways share are there.
  if (parts.has('gateway') && config.rules.store !== undefined) parts.add('rulesStore');
  return { roles, has: (part) => parts.has(part) };
}

export function showRoles(registry: Registry, { roles }: Opened): void {
  const gauge = new Gauge({
    name: 'floodgate_role',
    help: '1 for each role that this server has, and 0 for the others.',
    labelNames: ['role'],
    registers: [registry],
  });
  for (const role of ROLES) gauge.set({ role }, roles.includes(role) ? 1 : 0);
}
