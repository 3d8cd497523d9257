import { type AuditEntry, type AuditFilter, type AuditLog, parseTimestamp } from '../../index.ts';
import type { RulesEnvironment } from './environment.ts';

/** Entries read in one go, between which the event loop gets its turn. */
const ENTRIES_PER_TURN = 1000;

/** The audit in LMDB, at the moment of each change. */
export class LmdbAuditLog implements AuditLog {
  readonly #environment: RulesEnvironment;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
  }

  async *read(filter: AuditFilter, options: { newestFirst?: boolean } = {}): AsyncIterable<AuditEntry> {
    this.#environment.refresh();
    const reverse = options.newestFirst ?? false;
    let lowest = filter.since === undefined ? 0 : parseTimestamp(filter.since);
    let highest = filter.until === undefined ? Number.MAX_SAFE_INTEGER : parseTimestamp(filter.until);
    for (;;) {
      const range = reverse
        ? { start: highest, end: lowest - 1, reverse }
        : { start: lowest, end: highest + 1 };
      const entries = [...this.#environment.audit.getRange({ ...range, limit: ENTRIES_PER_TURN })];
      for (const { value } of entries) if (matches(value, filter)) yield value;
      const last = entries.at(-1);
      if (!last || entries.length < ENTRIES_PER_TURN) return;
      if (reverse) highest = last.key - 1;
      else lowest = last.key + 1;
      await new Promise(setImmediate);
    }
  }
}

function matches(entry: AuditEntry, { account, rule }: AuditFilter): boolean {
  if (account === undefined && rule === undefined) return true;
  if (!('account' in entry) || (account !== undefined && entry.account !== account)) return false;
  return rule === undefined || ('rule' in entry && entry.rule === rule);
}
