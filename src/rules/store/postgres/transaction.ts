import { type AuditEntry, type Micros, parseTimestamp, StoreUnavailable } from '../../index.ts';
import { CHANGE_CHANNEL } from './changeFeed.ts';
import { type Connection, rowsOf } from './connection/connection.ts';
import { type Statement, statement } from './connection/statement.ts';

/** Makes the commit of a transaction durable, even if asynchronous commit is the server's default. */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`;
const LOCK_CLOCK = `SELECT moment, tokens_changed_at, behind_since,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
  FROM floodgate.clock FOR UPDATE`;

/**
 * Writes audit entries, change times and clock. It is one statement, because each statement costs a round trip while
 * the clock row is locked.
 */
const FINISH = `WITH
    audit AS (INSERT INTO floodgate.audit (at, account, rule, entry)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::json[])),
    accounts AS (INSERT INTO floodgate.accounts AS a (account, rules_changed_at, lists_changed_at, zones_changed_at)
      SELECT * FROM unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
      ON CONFLICT (account) DO UPDATE SET rules_changed_at = greatest(a.rules_changed_at, excluded.rules_changed_at),
        lists_changed_at = greatest(a.lists_changed_at, excluded.lists_changed_at),
        zones_changed_at = greatest(a.zones_changed_at, excluded.zones_changed_at)),
    reported AS (SELECT pg_notify('${CHANGE_CHANNEL}', ''))
  UPDATE floodgate.clock SET moment = $9, tokens_changed_at = $10, behind_since = $11 FROM reported`;

interface Clock {
  readonly moment: Micros;
  readonly tokens_changed_at: Micros;
  readonly behind_since: Micros | null;
  readonly now: Micros;
}

/** The first audit entry of a transaction, by which it can be checked whether the transaction was committed. */
export interface CommitMarker {
  readonly at: Micros;
  /** Exact JSON text of the audit entry. */
  readonly entry: string;
}

/** Tolerance for small steps of the wall clock. If it is further behind the last change, it ran ahead earlier. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;

/**
 * Transaction that locks the clock row, so that no other instance writes until the transaction ends. Changes get
 * their times from the clock of the database, which all instances share.
 */
export class Transaction {
  readonly #connection: Connection;
  readonly #wallClock: () => Micros;
  #moment: Micros;
  #tokensChangedAt: Micros;
  #behindSince: Micros | null;
  readonly #audit: { readonly at: Micros; readonly entry: AuditEntry }[] = [];
  readonly #accounts = new Map<string, Changed>();

  private constructor(connection: Connection, clock: Clock, now: (() => Micros) | undefined) {
    this.#connection = connection;
    this.#wallClock = now ?? (() => clock.now);
    this.#moment = clock.moment;
    this.#tokensChangedAt = clock.tokens_changed_at;
    this.#behindSince = clock.behind_since;
  }

  static async begin(connection: Connection, now?: () => Micros): Promise<Transaction> {
    await connection.begin(DURABLE);
    const [clock] = await rowsOf<Clock>(connection, LOCK_CLOCK);
    if (clock === undefined)
      throw new StoreUnavailable(
        'The rules database is damaged: its table floodgate.clock is empty; restore a backup',
      );
    return new Transaction(connection, clock, now);
  }

  /** Current wall-clock time. Changes get their time from `nextMoment` instead. */
  get wallClock(): Micros {
    return this.#wallClock();
  }

  get behindSince(): Micros | null {
    return this.#behindSince;
  }

  /** Reserves `count` consecutive times that are later than all changes, and returns the first of them. */
  nextMoment(count = 1): Micros {
    const first = Math.max(this.wallClock, this.#moment + 1);
    this.#moment = first + count - 1;
    return first;
  }

  noteClock(): void {
    const isBehind = this.#moment - this.wallClock > CLOCK_TOLERANCE_MICROS;
    if (isBehind !== (this.#behindSince !== null)) this.#behindSince = isBehind ? this.wallClock : null;
  }

  read<Row>(query: Statement<Row>): Promise<Row[]> {
    return this.#connection.query(query);
  }

  /** Writes a change. Its audit entries and the change times of its accounts are written later, by `finish`. */
  async write(query: Statement<unknown>, entries: readonly AuditEntry[]): Promise<void> {
    await this.#connection.query(query);
    this.addAudit(entries);
  }

  /** Adds audit entries and the change times of their accounts, which `finish` writes. */
  addAudit(entries: readonly AuditEntry[]): void {
    for (const entry of entries) {
      const at = parseTimestamp(entry.at);
      this.#audit.push({ at, entry });
      if ('token' in entry) this.#tokensChangedAt = at;
      else this.#note(entry.account, { [changedPart(entry)]: at });
    }
  }

  /** Writes data that needs no audit entry, such as the result for a retry key. */
  async writeUnaudited(query: Statement<unknown>): Promise<void> {
    await this.#connection.query(query);
  }

  /**
   * Writes the audit entries before COMMIT. Returns the first one, by which the commit can be checked; undefined if
   * nothing was changed.
   */
  async finish(): Promise<CommitMarker | undefined> {
    const rows = this.#audit.map(({ at, entry }) => ({ at, entry: JSON.stringify(entry) }));
    const [first] = rows;
    if (first === undefined) return undefined;
    const of = (member: 'account' | 'rule') =>
      this.#audit.map(({ entry }) =>
        member in entry ? (entry as { account: string; rule: string })[member] : null,
      ); // `in` checked that the entry has the member
    const accounts = [...this.#accounts.values()];
    await this.#connection.query(
      statement(FINISH, [
        rows.map(({ at }) => at),
        of('account'),
        of('rule'),
        rows.map(({ entry }) => entry),
        [...this.#accounts.keys()],
        accounts.map(({ rules }) => rules),
        accounts.map(({ lists }) => lists),
        accounts.map(({ zones }) => zones),
        this.#moment,
        this.#tokensChangedAt,
        this.#behindSince,
      ]),
    );
    return first;
  }

  #note(account: string, changed: Partial<Changed>): void {
    this.#accounts.set(account, { ...(this.#accounts.get(account) ?? UNCHANGED), ...changed });
  }
}

/** Times of the last change of each part of an account by this transaction; 0 if it did not change the part. */
interface Changed {
  readonly rules: Micros;
  readonly lists: Micros;
  readonly zones: Micros;
}

const UNCHANGED: Changed = { rules: 0, lists: 0, zones: 0 };

function changedPart(entry: AuditEntry): keyof Changed {
  if ('list' in entry) return 'lists';
  return 'zone' in entry ? 'zones' : 'rules';
}
