import type pg from 'pg';
import type { Log } from '../../../platform/logging/index.ts';
import type { Micros } from '../../index.ts';
import type { Connections } from './connections.ts';
import { ConnectionFailed } from './failures.ts';
import { Listeners } from './listeners.ts';
import { statement } from './statement.ts';

/** The channel of NOTIFY. */
export const NOTICES = 'floodgate_changes';
/** Behind the notices: a change is to be in force everywhere within two seconds, whatever happens to them. */
const POLL_INTERVAL_MS = 1_000;
const RECONNECT_MS = 1_000;

const LOOK = `SELECT c.moment, c.tokens_changed_at, c.keys_changed_at, a.account, a.rules_changed_at, a.lists_changed_at
  FROM floodgate.clock c LEFT JOIN floodgate.accounts a
    ON a.rules_changed_at > $1 OR a.lists_changed_at > $1 OR a.account = ANY($2)`;

interface Row {
  readonly moment: Micros;
  readonly tokens_changed_at: Micros;
  readonly keys_changed_at: Micros;
  readonly account: string | null;
  readonly rules_changed_at: Micros;
  readonly lists_changed_at: Micros;
}

export interface ChangeFeedDependencies {
  readonly connections: Connections;
  readonly log: Log;
  readonly monotonicMs: () => number;
}

/** Looks for changes of all instances, at each notice and each second, and finds out when the database is back. */
export class ChangeFeed {
  readonly rules = new Listeners();
  readonly lists = new Listeners();
  /** Called where tokens changed, or may have. What it rejects with is tried again. */
  onTokens: () => Promise<void> = async () => undefined;
  /** The same of API keys; `isAll`: what is known of them may be of another database than this one. */
  onKeys: (isAll: boolean) => Promise<void> = async () => undefined;
  readonly #connections: Connections;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #seen: Micros | undefined;
  #tokensSeen: Micros = -1;
  #keysSeen: Micros = -1;
  /** By the monotonic clock: what is remembered was that of the database then. */
  #syncedAtMs: number;
  #comparesAll = true;
  #looking: Promise<void> | undefined;
  #looksAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #client: pg.Client | undefined;
  #isClosed = false;

  constructor({ connections, log, monotonicMs }: ChangeFeedDependencies) {
    this.#monotonicMs = monotonicMs;
    this.#syncedAtMs = monotonicMs();
    this.#connections = connections;
    this.#log = log;
  }

  /** Rejects where the database cannot be listened to or read. */
  async start(): Promise<void> {
    await this.#listen();
    await this.#look();
    this.#timer = setInterval(() => this.#lookSoon(), POLL_INTERVAL_MS).unref();
  }

  /** How long ago what is remembered was compared with the database. */
  get ageMs(): number {
    return this.#monotonicMs() - this.#syncedAtMs;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
    await this.#looking;
  }

  async #listen(): Promise<void> {
    const client = this.#connections.newClient();
    client.on('notification', () => this.#lookSoon());
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(`LISTEN ${NOTICES}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    client.once('end', () => this.#listenAgain());
  }

  #listenAgain(): void {
    if (this.#isClosed) return;
    this.#client = undefined;
    setTimeout(() => {
      if (this.#isClosed) return;
      this.#listen().then(
        () => {
          // What was told while nobody listened, and all else: a database that comes back may know less than before.
          this.#comparesAll = true;
          this.#lookSoon();
        },
        () => this.#listenAgain(),
      );
    }, RECONNECT_MS).unref();
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    if (this.#looking) {
      this.#looksAgain = true;
      return;
    }
    this.#looking = this.#look()
      .catch((error: unknown) => {
        // Whatever it was: the next look, a second later, is of all.
        this.#comparesAll = true;
        if (!(error instanceof ConnectionFailed))
          this.#log.warn({ reason: String(error) }, 'the rules database cannot be looked at');
      })
      .finally(() => {
        this.#looking = undefined;
        const again = this.#looksAgain;
        this.#looksAgain = false;
        if (again) this.#lookSoon();
      });
  }

  async #look(): Promise<void> {
    const startedAtMs = this.#monotonicMs();
    const comparesAll = this.#comparesAll || this.#connections.isAway;
    this.#comparesAll = false;
    const known = comparesAll ? [...this.rules.remembered().keys(), ...this.lists.remembered().keys()] : [];
    const rows = await this.#read([...new Set(known)]);
    const [clock] = rows;
    if (clock === undefined) throw new Error('it has lost its clock');
    this.#connections.noteThere();
    const since = this.#seen ?? clock.moment;
    const states = new Map(
      rows.flatMap((row) => (row.account === null ? [] : [[row.account, row] as const])),
    );
    const tell = (listeners: Listeners, changedAt: (row: Row) => Micros): void => {
      const moments = new Map([...states].map(([account, row]) => [account, changedAt(row)]));
      // Of accounts that the database no longer knows, too.
      for (const account of known) if (!moments.has(account)) moments.set(account, 0);
      listeners.look(moments, { since, moment: clock.moment, comparesAll });
    };
    tell(this.rules, (row) => row.rules_changed_at);
    tell(this.lists, (row) => row.lists_changed_at);
    this.#seen = clock.moment;
    if (comparesAll || clock.tokens_changed_at !== this.#tokensSeen) await this.onTokens();
    this.#tokensSeen = clock.tokens_changed_at;
    if (comparesAll || clock.keys_changed_at !== this.#keysSeen) await this.onKeys(comparesAll);
    this.#keysSeen = clock.keys_changed_at;
    this.#syncedAtMs = startedAtMs;
  }

  #read(known: readonly string[]): Promise<Row[]> {
    const seen = this.#seen ?? Number.MAX_SAFE_INTEGER;
    return this.#connections.read(statement<Row>(LOOK, [seen, known]), { evenIfAway: true });
  }
}
