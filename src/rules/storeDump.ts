import type { AccessEntry } from './accessList.ts';
import type { AuditEntry } from './audit.ts';
import type { IdempotencyRecord } from './recordStore.ts';
import type { Rule } from './rule.ts';
import type { Micros } from './timestamp.ts';
import type { Token } from './tokens/token.ts';
import type { ZonePolicy } from './zonePolicy.ts';

/** Rows that `floodgate store copy` copies from one storage engine to another, as in the tables of PostgreSQL. */
export interface StoreRows {
  clock: { moment: Micros; behind_since: Micros | null };
  rules: { account: string; id: string; target: string; created_on: string; rule: Rule };
  list_entries: { account: string; list: string; id: string; created_on: string; entry: AccessEntry };
  zone_policies: { account: string; id: string; zone: string; created_on: string; policy: ZonePolicy };
  tokens: { hash: string; id: string; created_on: string; token: Token };
  token_uses: { id: string; used_on: string };
  idempotency_keys: Omit<IdempotencyRecord, 'wallClock'> & {
    account: string;
    key: string;
    wall_clock: Micros;
  };
  audit: { at: Micros; account: string | null; rule: string | null; entry: AuditEntry };
  gateway_keys: { hash: string; changed_at: Micros; key: object };
}

/** At least one row of a table. */
export type Batch = {
  [T in keyof StoreRows]: { readonly table: T; readonly rows: readonly StoreRows[T][] };
}[keyof StoreRows];

export type Batches = AsyncIterable<Batch>;

/** Rules store, with the API keys of the gateway, as the source or target of a copy. */
export interface StoreDump {
  /** Passes the rows of a consistent snapshot of the store to `use`. */
  read(use: (batches: Batches) => Promise<void>): Promise<void>;
  /** Writes rows to an empty store, all or none of them. Throws `StoreNotEmpty`. */
  fill(batches: Batches): Promise<void>;
}

export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';
}
