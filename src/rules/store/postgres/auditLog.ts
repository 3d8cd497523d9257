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
import { statement } from './connection/statement.ts';
import type { StoreParts } from './storeParts.ts';

/** Number of audit entries that one query reads; about 1 MB. */
const ENTRIES_PER_READ = 1000;

/** Audit log in PostgreSQL. The entries are keyed by the time of the change. */
export class PostgresAuditLog implements AuditLog {
  readonly #parts: Pick<StoreParts, 'connections' | 'commits'>;

  constructor(parts: Pick<StoreParts, 'connections' | 'commits'>) {
    this.#parts = parts;
  }

  async *read(filter: AuditFilter, { newestFirst = false } = {}): AsyncIterable<AuditEntry> {
    let bounds = boundsOf(filter);
    for (;;) {
      const rows = await this.#entries(filter, { ...bounds, newestFirst, limit: ENTRIES_PER_READ });
      for (const { entry } of rows) yield entry;
      const last = rows.at(-1);
      if (last === undefined || rows.length < ENTRIES_PER_READ) return;
      bounds = newestFirst ? { ...bounds, highest: last.at - 1 } : { ...bounds, lowest: last.at + 1 };
    }
  }

  async page(filter: AuditFilter, { limit, from }: AuditPageRequest): Promise<AuditPage> {
    const { lowest, highest } = boundsOf(filter);
    const bounds = { lowest, highest: Math.min(from ?? highest, highest) };
    const rows = await this.#entries(filter, { ...bounds, newestFirst: true, limit: limit + 1 });
    return { entries: rows.slice(0, limit).map(({ entry }) => entry), next: rows[limit]?.at };
  }

  async addForgotten(zone: Pick<ZoneForgotten, 'account' | 'zone' | 'policy'>, actor: Actor): Promise<void> {
    await this.#parts.commits.run(zone.account, async (transaction) => {
      transaction.addAudit([forgottenEntry(zone, stamp(transaction.nextMoment(), actor))]);
    });
  }

  /** Returns audit entries of a range of times. */
  async #entries({ withTokens, ...filter }: AuditFilter, range: Range): Promise<Row[]> {
    const { account, rule } = filter;
    if (!withTokens || account === undefined || rule !== undefined) return this.#entriesOf(filter, range);
    const found = await Promise.all([
      this.#entriesOf({ account }, range),
      this.#entriesOf({ account: null }, range),
    ]);
    const order = range.newestFirst ? -1 : 1;
    return found
      .flat()
      .sort((one, other) => order * (one.at - other.at))
      .slice(0, range.limit);
  }

  /** The account is `null` for changes of tokens. Each filter has an index, so other entries need not be read. */
  #entriesOf(
    { account, rule }: { readonly account?: string | null | undefined; readonly rule?: string | undefined },
    { lowest, highest, newestFirst, limit }: Range,
  ): Promise<Row[]> {
    const parameters: unknown[] = [lowest, highest, limit];
    let where = 'at BETWEEN $1 AND $2';
    if (account === null) where += ' AND account IS NULL';
    else if (account !== undefined) where += ` AND account = $${parameters.push(account)}`;
    if (rule !== undefined) where += ` AND rule = $${parameters.push(rule)}`;
    const order = newestFirst ? 'DESC' : 'ASC';
    const sql = `SELECT at, entry FROM floodgate.audit WHERE ${where} ORDER BY at ${order} LIMIT $3`;
    return this.#parts.connections.read(statement<Row>(sql, parameters));
  }
}

interface Row {
  readonly at: Micros;
  readonly entry: AuditEntry;
}

interface Bounds {
  readonly lowest: Micros;
  readonly highest: Micros;
}

interface Range extends Bounds {
  readonly newestFirst: boolean;
  readonly limit: number;
}

const boundsOf = ({ since, until }: AuditFilter): Bounds => ({
  lowest: since === undefined ? 0 : parseTimestamp(since),
  highest: until === undefined ? Number.MAX_SAFE_INTEGER : parseTimestamp(until),
});
