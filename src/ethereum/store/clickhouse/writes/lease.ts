import { randomUUID } from 'node:crypto';
import { inBackground } from '../../../../platform/background/index.ts';
import type { Database } from '../connection/database.ts';

/**
 * Time after which a lease ends if it is not renewed. Even with the poll interval of a waiting instance, failover
 * takes less than 10 s.
 */
const LEASE_SECONDS = 7;
const RENEW_MS = 2_000;

const ACQUIRE = `UPDATE floodgate_traces.chains
  SET lease_token = lease_token + CASE WHEN lease_holder = $2 AND lease_until > clock_timestamp() THEN 0 ELSE 1 END,
    lease_holder = $2, lease_until = clock_timestamp() + make_interval(secs => $3)
  WHERE id = $1 AND (lease_until IS NULL OR lease_until < clock_timestamp() OR lease_holder = $2)
  RETURNING lease_token AS token`;
const RELEASE = `UPDATE floodgate_traces.chains SET lease_until = NULL WHERE id = $1 AND lease_holder = $2`;

/**
 * Write lease of an index. Each new holder gets a higher token, which each write transaction compares with the
 * current one. An instance that was paused and has lost the lease therefore cannot commit.
 */
export class Lease {
  readonly #database: Database;
  readonly #holder = randomUUID();
  #chain: number | undefined;
  #renewing: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Acquires or renews the lease. Returns its token, or undefined if another instance has the lease. */
  async acquire(chain: number): Promise<number | undefined> {
    const [taken] = await this.#database.query<{ token: number }>(ACQUIRE, [
      chain,
      this.#holder,
      LEASE_SECONDS,
    ]);
    if (taken === undefined) return this.#stop();
    this.#chain = chain;
    // The lease is renewed even if nothing is written, so that it does not move between instances.
    this.#renewing ??= setInterval(
      () => inBackground('lease of the index', () => this.#renew()),
      RENEW_MS,
    ).unref();
    return taken.token;
  }

  async release(): Promise<void> {
    const chain = this.#chain;
    this.#stop();
    if (chain !== undefined) await this.#database.query(RELEASE, [chain, this.#holder]).catch(() => []);
  }

  async #renew(): Promise<void> {
    // If PostgreSQL is unreachable, the next change acquires the lease again.
    if (this.#chain !== undefined) await this.acquire(this.#chain).catch(() => undefined);
  }

  #stop(): undefined {
    clearInterval(this.#renewing);
    this.#renewing = undefined;
    this.#chain = undefined;
  }
}
