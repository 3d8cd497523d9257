import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../../../platform/logging/index.ts';
import type { Micros } from '../../index.ts';
import type { Connections } from './connection/connections.ts';
import { ConnectionFailed, failureOf } from './connection/failures.ts';
import { Listeners } from './connection/listeners.ts';
import { statement } from './connection/statement.ts';

export const CHANGE_CHANNEL = 'floodgate_changes';
/** Interval of polls, for lost notifications. A change must take effect on all instances within two seconds. */
const POLL_INTERVAL_MS = 1_000;
const RECONNECT_MS = 1_000;

const LOOK = `SELECT c.moment, c.tokens_changed_at, c.keys_changed_at, a.account, a.rules_changed_at, a.lists_changed_at,
    a.zones_changed_at
  FROM floodgate.clock c LEFT JOIN floodgate.accounts a
    ON a.rules_changed_at > $1 OR a.lists_changed_at > $1 OR a.zones_changed_at > $1 OR a.account = ANY($2)`;

interface Row {
  readonly moment: Micros;
  readonly tokens_changed_at: Micros;
  readonly keys_changed_at: Micros;
  readonly account: string | null;
  readonly rules_changed_at: Micros;
  readonly lists_changed_at: Micros;
  readonly zones_changed_at: Micros;
}

export interface ChangeFeedDependencies {
  readonly connections: Connections;
  readonly log: Log;
  readonly monotonicMs: () => number;
  /** Checks the tables, and creates missing ones. Called before the first poll, until it succeeds. */
  readonly prepare: () => Promise<void>;
}

/** Detects changes by all instances, through notifications and polls, and when the database is reachable again. */
export class ChangeFeed {
  readonly rules = new Listeners();
  readonly lists = new Listeners();
  readonly zones = new Listeners();
  /** Called when tokens may have changed. If it rejects, it is called again. */
  onTokens: () => Promise<void> = async () => undefined;
  /** Called when API keys may have changed; again if it rejects. `isAll`: every cached key may be outdated. */
  onKeys: (isAll: boolean) => Promise<void> = async () => undefined;
  /** Called after each successful poll. */
  onPolled: () => void = () => undefined;
  readonly #connections: Connections;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #seen: Micros | undefined;
  #tokensSeen: Micros = -1;
  #keysSeen: Micros = -1;
  /** Start of the last successful poll, on the monotonic clock. Cached data was current then. */
  #syncedAtMs: number;
  #comparesAll = true;
  #looking: Promise<void> | undefined;
  #looksAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #client: pg.Client | undefined;
  #isClosed = false;
  #prepare: (() => Promise<void>) | undefined;

  constructor({ connections, log, monotonicMs, prepare }: ChangeFeedDependencies) {
    this.#prepare = prepare;
    this.#monotonicMs = monotonicMs;
    this.#syncedAtMs = monotonicMs();
    this.#connections = connections;
    this.#log = log;
  }

  /** Starts to receive notifications and to poll. Rejects if LISTEN or the first poll fails. */
  async start(): Promise<void> {
    await this.#prepared();
    await this.#listen();
    await this.#poll();
    this.#startTimer();
  }

  /** Starts while the database is away: the first poll is made when it is back. */
  startAway(): void {
    if (this.#client === undefined) this.#listenAgain();
    this.#startTimer();
  }

  /** Waits until the database is reachable, then starts. Rejects if the database cannot be used. */
  async startLater(): Promise<void> {
    for (;;) {
      await pause(RECONNECT_MS);
      try {
        return await this.start();
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error;
      }
    }
  }

  /** Sets the age of the cached data, which was restored from a snapshot. The oldest of several snapshots counts. */
  restoreAge(ageMs: number): void {
    this.#syncedAtMs = Math.min(this.#syncedAtMs, this.#monotonicMs() - ageMs);
  }

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

  #startTimer(): void {
    this.#timer = setInterval(() => this.#pollSoon(), POLL_INTERVAL_MS).unref();
  }

  async #prepared(): Promise<void> {
    await this.#prepare?.();
    this.#prepare = undefined;
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined) return;
    const client = this.#connections.newClient();
    client.on('notification', () => this.#pollSoon());
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANGE_CHANNEL}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw failureOf(error);
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
          // Notifications were missed while disconnected. All cached data is compared with the database, which may
          // even have lost changes if it was restored from a backup.
          this.#comparesAll = true;
          this.#pollSoon();
        },
        () => this.#listenAgain(),
      );
    }, RECONNECT_MS).unref();
  }

  #pollSoon(): void {
    if (this.#isClosed) return;
    if (this.#looking) {
      this.#looksAgain = true;
      return;
    }
    this.#looking = this.#poll()
      .catch((error: unknown) => {
        // After a failure, the next poll compares all cached data with the database.
        this.#comparesAll = true;
        if (!(error instanceof ConnectionFailed))
          this.#log.warn({ reason: String(error) }, 'cannot poll the rules database');
      })
      .finally(() => {
        this.#looking = undefined;
        const again = this.#looksAgain;
        this.#looksAgain = false;
        if (again) this.#pollSoon();
      });
  }

  async #poll(): Promise<void> {
    const startedAtMs = this.#monotonicMs();
    const comparesAll = this.#comparesAll || this.#connections.isUnreachable;
    this.#comparesAll = false;
    await this.#prepared();
    const parts = [this.rules, this.lists, this.zones];
    const known = comparesAll ? parts.flatMap((part) => [...part.cached().keys()]) : [];
    const rows = await this.#read([...new Set(known)]);
    const [clock] = rows;
    if (clock === undefined) throw new Error('the clock row is missing');
    this.#connections.markReachable();
    const since = this.#seen ?? clock.moment;
    const states = new Map(
      rows.flatMap((row) => (row.account === null ? [] : [[row.account, row] as const])),
    );
    const tell = (listeners: Listeners, changedAt: (row: Row) => Micros): void => {
      const moments = new Map([...states].map(([account, row]) => [account, changedAt(row)]));
      // Cached accounts that the database no longer contains are reported too.
      for (const account of known) if (!moments.has(account)) moments.set(account, 0);
      listeners.applyPoll(moments, { since, moment: clock.moment, comparesAll });
    };
    tell(this.rules, (row) => row.rules_changed_at);
    tell(this.lists, (row) => row.lists_changed_at);
    tell(this.zones, (row) => row.zones_changed_at);
    this.#seen = clock.moment;
    if (comparesAll || clock.tokens_changed_at !== this.#tokensSeen) await this.onTokens();
    this.#tokensSeen = clock.tokens_changed_at;
    if (comparesAll || clock.keys_changed_at !== this.#keysSeen) await this.onKeys(comparesAll);
    this.#keysSeen = clock.keys_changed_at;
    this.#syncedAtMs = startedAtMs;
    this.onPolled();
  }

  #read(known: readonly string[]): Promise<Row[]> {
    const seen = this.#seen ?? Number.MAX_SAFE_INTEGER;
    return this.#connections.read(statement<Row>(LOOK, [seen, known]), { evenIfAway: true });
  }
}
