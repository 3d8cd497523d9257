import { awaitedLater } from '../../../platform/background/index.ts';
import type { Micros, SharedRecords } from '../../index.ts';
import { CHANGE_CHANNEL } from './changeFeed.ts';
import { statement } from './connection/statement.ts';
import type { KeysState } from './snapshot/snapshots.ts';
import type { StoreParts } from './storeParts.ts';
import { Transaction } from './transaction.ts';

const CHANGED = 'SELECT hash, changed_at, key FROM floodgate.gateway_keys WHERE changed_at > $1';
const STORED = 'SELECT key FROM floodgate.gateway_keys WHERE hash = $1';
const WRITE = `INSERT INTO floodgate.gateway_keys (hash, changed_at, key) VALUES ($1, $2, $3)
  ON CONFLICT (hash) DO UPDATE SET changed_at = excluded.changed_at, key = excluded.key`;
const TELL = `WITH reported AS (SELECT pg_notify('${CHANGE_CHANNEL}', ''))
  UPDATE floodgate.clock SET moment = $1, keys_changed_at = $1 FROM reported`;

interface Row {
  readonly hash: string;
  readonly changed_at: Micros;
  readonly key: unknown;
}

/** API keys of the gateway in PostgreSQL, with a replica of all keys in memory. Each poll reads the changed keys. */
export class PostgresRecords implements SharedRecords {
  readonly #parts: StoreParts;
  #known: ReadonlyMap<string, unknown> = new Map();
  #hadAny = false;
  #isKnown = false;
  #seen: Micros = -1;
  #reading: Promise<void> = Promise.resolve();

  /** Stores the keys before they are used, so that a revocation is effective after a restart, too. */
  keep: (state: KeysState) => Promise<void> = async () => undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    parts.feed.onKeys = (isAll) => this.#read({ isAll, evenIfAway: true });
  }

  get ageMs(): number {
    return this.#isKnown ? this.#parts.feed.ageMs : Number.POSITIVE_INFINITY;
  }

  get hadAny(): boolean {
    return this.#hadAny;
  }

  all(): ReadonlyMap<string, unknown> {
    return this.#known;
  }

  refresh(): Promise<void> {
    return this.#read({ isAll: false, evenIfAway: false });
  }

  async change(key: string, decide: (stored: unknown) => unknown): Promise<unknown> {
    const { connections } = this.#parts;
    connections.assertReachable();
    // If the connection is lost, the transaction is repeated. So `decide` must return the same value for the same
    // record.
    const changed = await connections.withRetries(async (connection) => {
      const transaction = await Transaction.begin(connection);
      const [row] = await transaction.read(statement<Pick<Row, 'key'>>(STORED, [key]));
      const decided = decide(row?.key);
      if (decided !== undefined) {
        const at = transaction.nextMoment();
        await transaction.read(statement(WRITE, [key, at, JSON.stringify(decided)]));
        await transaction.read(statement(TELL, [at]));
      }
      await connection.command(decided === undefined ? 'ROLLBACK' : 'COMMIT');
      return decided ?? row?.key;
    });
    if (changed === undefined) return undefined;
    // A read that started before the commit may finish after it, and would then replace the changed record in the
    // replica.
    this.#reading = this.#reading.catch(() => undefined);
    const keep = this.#reading.then(() => this.#know(new Map(this.#known).set(key, changed)));
    this.#reading = awaitedLater(keep);
    await keep;
    return changed;
  }

  /** Uses the keys of a snapshot until the database is reachable. */
  restore({ hadAny, keys }: KeysState): void {
    this.#known = new Map(keys);
    this.#hadAny = hadAny;
    this.#isKnown = true;
  }

  /**
   * Reads changed keys into the replica, or all keys. Reads run one after the other, so that an older state cannot
   * replace a newer one.
   */
  #read(how: { readonly isAll: boolean; readonly evenIfAway: boolean }): Promise<void> {
    const read = this.#reading.catch(() => undefined).then(() => this.#readNow(how));
    this.#reading = awaitedLater(read);
    return read;
  }

  async #readNow({ isAll, evenIfAway }: { readonly isAll: boolean; readonly evenIfAway: boolean }) {
    const since = isAll ? -1 : this.#seen;
    const rows = await this.#parts.connections.read(statement<Row>(CHANGED, [since]), { evenIfAway });
    if (rows.length === 0 && !isAll) return;
    const known = new Map(isAll ? [] : this.#known);
    this.#seen = since;
    for (const { hash, changed_at, key } of rows) {
      known.set(hash, key);
      this.#seen = Math.max(this.#seen, changed_at);
    }
    await this.#know(known);
  }

  async #know(known: ReadonlyMap<string, unknown>): Promise<void> {
    const hadAny = this.#hadAny || known.size > 0;
    await this.keep({ hadAny, keys: [...known] });
    this.#known = known;
    this.#hadAny = hadAny;
    this.#isKnown = true;
  }
}
