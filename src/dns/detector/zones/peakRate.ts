/**
 * The busiest ten minutes of one kind of query, in queries per second. It grows at most twofold per day, so that a
 * patient attacker gains little, and halves in five days without such queries.
 */

const WINDOW_SECONDS = 600;
const SECONDS_PER_DAY = 24 * 3600;
const HALF_LIFE_SECONDS = 5 * SECONDS_PER_DAY;
/** Up to this value, the rate may grow at any speed, because no learned limit of a zone is lower. */
const FREE_PER_SECOND = 100;

export class PeakRate {
  perSecond = 0;
  #seconds = 0;
  #queries = 0;

  /** Adds the queries of some seconds. `isFree`: the rate may grow at any speed. */
  add(queries: number, seconds: number, isFree: boolean): void {
    this.#seconds += seconds;
    this.#queries += queries;
    if (this.#seconds < WINDOW_SECONDS) return;
    const mean = this.#queries / this.#seconds;
    const grown = this.perSecond * 2 ** (this.#seconds / SECONDS_PER_DAY);
    const most = isFree ? mean : Math.max(FREE_PER_SECOND, grown);
    const faded = this.perSecond * 0.5 ** (this.#seconds / HALF_LIFE_SECONDS);
    this.perSecond = Math.max(Math.min(mean, most), faded);
    this.#seconds = 0;
    this.#queries = 0;
  }
}
