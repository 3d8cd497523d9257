import {
  type Actor,
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  type AuditPage,
  type AuditPageRequest,
  forgottenEntry,
  type Micros,
  parseTimestamp,
  stamp,
  type ZoneForgotten,
} from '../../index.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';

/** Number of entries that are read before the event loop can run other tasks. */
const ENTRIES_PER_TURN = 1000;
/** One page reads at most 40 × 250 entries: about 100 ms of work, in time slices of a few milliseconds. */
const PAGE_ENTRIES_PER_TURN = 250;
const PAGE_TURNS = 40;

/** Audit log in LMDB. The entries are keyed by the time of the change. */
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

  async page(filter: AuditFilter, { limit, from }: AuditPageRequest): Promise<AuditPage> {
    const lowest = filter.since === undefined ? 0 : parseTimestamp(filter.since);
    const until = filter.until === undefined ? Number.MAX_SAFE_INTEGER : parseTimestamp(filter.until);
    let highest = Math.min(from ?? until, until);
    const found: AuditEntry[] = [];
    for (let turn = 0; turn < PAGE_TURNS; turn++) {
      this.#environment.refresh();
      const read = this.#below(highest, lowest);
      for (const { key, value } of read) {
        if (!matches(value, filter)) continue;
        if (found.length === limit) return { entries: found, next: key };
        found.push(value);
      }
      const last = read.at(-1);
      if (last === undefined || read.length < PAGE_ENTRIES_PER_TURN)
        return { entries: found, next: undefined };
      highest = last.key - 1;
      await new Promise(setImmediate);
    }
    return { entries: found, next: highest };
  }

  async addForgotten(zone: Pick<ZoneForgotten, 'account' | 'zone' | 'policy'>, actor: Actor): Promise<void> {
    const environment = this.#environment;
    await environment.commits.run(() => {
      const moment = environment.nextMoment();
      const entry = forgottenEntry(zone, stamp(moment, actor));
      const writes = [auditWrite(environment, moment, entry), environment.clockAt(moment)];
      return { result: undefined, writes };
    });
  }

  #below(highest: Micros, lowest: Micros): { key: Micros; value: AuditEntry }[] {
    const range = { start: highest, end: lowest - 1, reverse: true, limit: PAGE_ENTRIES_PER_TURN };
    return [...this.#environment.audit.getRange(range)];
  }
}

function matches(entry: AuditEntry, { account, rule, withTokens }: AuditFilter): boolean {
  if (rule === undefined && (account === undefined || (withTokens && 'token' in entry))) return true;
  if (!('account' in entry) || (account !== undefined && entry.account !== account)) return false;
  return rule === undefined || ('rule' in entry && entry.rule === rule);
}
