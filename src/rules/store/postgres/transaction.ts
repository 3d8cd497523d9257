import type { CompiledQuery } from 'kysely';
import { type AuditEntry, type Micros, parseTimestamp, StoreUnavailable } from '../../index.ts';
import { NOTICES } from './changeFeed.ts';
import type { Connection } from './connection.ts';
import { rowsOf, statement } from './statement.ts';

/** By the database's own clock, which is one for all instances. A server that does not wait for its disk is told to, for us. */
const BEGIN = `BEGIN;
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`;
const LOCK_CLOCK = `SELECT moment, tokens_changed_at, behind_since,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
  FROM floodgate.clock FOR UPDATE`;

const WRITE_AUDIT = `INSERT INTO floodgate.audit (at, account, rule, entry)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::json[])`;
const WRITE_ACCOUNTS = `INSERT INTO floodgate.accounts AS a (account, rules_changed_at, lists_changed_at)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
  ON CONFLICT (account) DO UPDATE SET rules_changed_at = greatest(a.rules_changed_at, excluded.rules_changed_at),
    lists_changed_at = greatest(a.lists_changed_at, excluded.lists_changed_at)`;
const WRITE_CLOCK = `WITH told AS (SELECT pg_notify('${NOTICES}', ''))
  UPDATE floodgate.clock SET moment = $1, tokens_changed_at = $2, behind_since = $3 FROM told`;

interface Clock {
  readonly moment: Micros;
  readonly tokens_changed_at: Micros;
  readonly behind_since: Micros | null;
  readonly now: Micros;
}

/** What of a transaction can be looked up afterwards. */
export interface Trace {
  readonly at: Micros;
  /** As it was written, to the letter. */
  readonly entry: string;
}

/** Wall clocks are set back by small steps all the time; more than this counts as one that ran ahead. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;

/** A transaction that holds the clock: no other instance writes until it ends. */
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
    await connection.command(BEGIN);
    const [clock] = await rowsOf<Clock>(connection, LOCK_CLOCK);
    if (clock === undefined) throw new StoreUnavailable('The rules database has lost its clock');
    return new Transaction(connection, clock, now);
  }

  /** The wall clock, not what a change would be stamped with. */
  get wallClock(): Micros {
    return this.#wallClock();
  }

  get behindSince(): Micros | null {
    return this.#behindSince;
  }

  /** The first of so many moments later than every one before them. */
  nextMoment(count = 1): Micros {
    const first = Math.max(this.wallClock, this.#moment + 1);
    this.#moment = first + count - 1;
    return first;
  }

  /** Notes that the wall clock is behind the last change, or that it no longer is. */
  noteClock(): void {
    const isBehind = this.#moment - this.wallClock > CLOCK_TOLERANCE_MICROS;
    if (isBehind !== (this.#behindSince !== null)) this.#behindSince = isBehind ? this.wallClock : null;
  }

  read<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    return this.#connection.query(query);
  }

  /** Writes a change. Its audit entries, and which accounts changed, are written together with those of the rest of the group. */
  async write(query: Compilable, entries: readonly AuditEntry[]): Promise<void> {
    await this.#connection.query(query.compile());
    for (const entry of entries) {
      const at = parseTimestamp(entry.at);
      this.#audit.push({ at, entry });
      if ('token' in entry) this.#tokensChangedAt = at;
      else this.#note(entry.account, 'list' in entry ? { lists: at } : { rules: at });
    }
  }

  /** What belongs to a change that `write` writes, and is none itself. */
  async writeBeside(query: Compilable): Promise<void> {
    await this.#connection.query(query.compile());
  }

  /** All that is left to write before COMMIT. Gives what can be looked up afterwards; undefined where nothing was changed. */
  async finish(): Promise<Trace | undefined> {
    const rows = this.#audit.map(({ at, entry }) => ({ at, entry: JSON.stringify(entry) }));
    const [first] = rows;
    if (first === undefined) return undefined;
    const of = (member: 'account' | 'rule') =>
      this.#audit.map(({ entry }) =>
        member in entry ? (entry as { account: string; rule: string })[member] : null,
      ); // see `in`
    await this.#connection.query(
      statement(WRITE_AUDIT, [
        rows.map(({ at }) => at),
        of('account'),
        of('rule'),
        rows.map(({ entry }) => entry),
      ]),
    );
    const accounts = [...this.#accounts.values()];
    await this.#connection.query(
      statement(WRITE_ACCOUNTS, [
        [...this.#accounts.keys()],
        accounts.map(({ rules }) => rules),
        accounts.map(({ lists }) => lists),
      ]),
    );
    await this.#connection.query(
      statement(WRITE_CLOCK, [this.#moment, this.#tokensChangedAt, this.#behindSince]),
    );
    return first;
  }

  #note(account: string, changed: Partial<Changed>): void {
    this.#accounts.set(account, { ...(this.#accounts.get(account) ?? { rules: 0, lists: 0 }), ...changed });
  }
}

interface Compilable {
  compile(): CompiledQuery<unknown>;
}

/** The last change of an account's rules and lists in a transaction; zero where there was none. */
interface Changed {
  readonly rules: Micros;
  readonly lists: Micros;
}
