import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';

/** How long a lease holds that is not renewed: with a turn of a waiting instance, less than ten seconds. */
const LEASE_SECONDS = 7;
const RENEW_MS = 2_000;

const TAKE = `UPDATE floodgate_traces.chains
  SET lease_token = lease_token + CASE WHEN lease_holder = $2 AND lease_until > clock_timestamp() THEN 0 ELSE 1 END,
    lease_holder = $2, lease_until = clock_timestamp() + make_interval(secs => $3)
  WHERE id = $1 AND (lease_until IS NULL OR lease_until < clock_timestamp() OR lease_holder = $2)
  RETURNING lease_token AS token`;
const GIVE_BACK = `UPDATE floodgate_traces.chains SET lease_until = NULL WHERE id = $1 AND lease_holder = $2`;

/**
 * The right to write an index: one instance has it. Its token grows whenever the lease goes on to another, and each transaction that
 * writes compares it, so that who was stopped for a while and goes on writes nothing that counts.
 */
export class Lease {
  readonly #database: Database;
  readonly #holder = randomUUID();
  #chain: number | undefined;
  #renewing: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The token, where the lease is this instance's now or can be; undefined where another one has it. */
  async take(chain: number): Promise<number | undefined> {
    const [taken] = await this.#database.query<{ token: number }>(TAKE, [chain, this.#holder, LEASE_SECONDS]);
    if (taken === undefined) return this.#stop();
    this.#chain = chain;
    // Kept while nothing is written, so that it does not go to and fro.
    this.#renewing ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    return taken.token;
  }

  async giveBack(): Promise<void> {
    const chain = this.#chain;
    this.#stop();
    if (chain !== undefined) await this.#database.query(GIVE_BACK, [chain, this.#holder]).catch(() => []);
  }

  async #renew(): Promise<void> {
    // Where PostgreSQL is away it is taken again with the next change.
    if (this.#chain !== undefined) await this.take(this.#chain).catch(() => undefined);
  }

  #stop(): undefined {
    clearInterval(this.#renewing);
    this.#renewing = undefined;
    this.#chain = undefined;
  }
}
