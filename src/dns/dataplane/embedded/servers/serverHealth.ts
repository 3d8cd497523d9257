/**
 * Health of one DNS server, from probes and from a comparison with the other servers. Clients cannot make one server
 * look worse: they cannot choose the server, so queries that no server answers affect all equally. No I/O.
 */

/** Health status of a DNS server, best first. Queries are sent to all servers with the best status that any has. */
export const HealthStatus = { inUse: 0, worse: 1, failing: 2, silent: 3, unreachable: 4 } as const;
export type HealthStatus = (typeof HealthStatus)[keyof typeof HealthStatus];

export type ProbeResult = 'good' | 'failing' | 'silent';

/** Consecutive failed probes that take a server out of use. A single one may be a lost packet or a zone reload. */
const PROBES_TO_LEAVE = 2;
const PROBES_TO_RETURN = 2;
/** Consecutive ICMP port unreachable messages that take a server out of use. */
const REFUSALS_TO_LEAVE = 20;
/**
 * The counters of good and bad answers are halved when their sum reaches this number: small enough to follow changes,
 * large enough to average out noise.
 */
const MAX_COUNTED_ANSWERS = 256;
const MIN_COUNTED_ANSWERS = 32;
/**
 * A server is `worse` if its share of failed queries exceeds that of the best server by WORSE_BY, which users notice,
 * and by SIGMAS standard deviations, which rules out chance.
 */
const WORSE_BY = 0.2;
const AS_GOOD_BY = 0.1;
const SIGMAS = 4;
/** Fraction of queries sent to `worse` servers as a trial. If a trial fails, another server gets the query. */
export const TRIAL_SHARE = 1 / 64;
/**
 * Number of comparisons (at most two per second) after which a `worse` server is used again if there were too few
 * trial queries for a comparison.
 */
const JUDGEMENTS_TO_RETURN = 20;

export class ServerHealth {
  /** Number of queries, sent to this server first, with a good answer in time. Halved together with `bad`. */
  good = 0;
  /** Number of queries, sent to this server first, whose answer was SERVFAIL or late. */
  bad = 0;
  #byProbe: ProbeResult = 'good';
  #isWorse = false;
  #judgementsWorse = 0;
  /**
   * Good answers to clients since the last probe. If there are any, a failed probe counts as good: the server may lack
   * only the zone of the probe.
   */
  #goodSinceProbe = 0;
  #failedProbes = 0;
  #goodProbes = 0;
  #refusals = 0;

  get status(): HealthStatus {
    if (this.#byProbe !== 'good') return HealthStatus[this.#byProbe];
    return this.#isWorse ? HealthStatus.worse : HealthStatus.inUse;
  }

  /** Counts a client's query that was sent to this server first. `isGood`: answered in time, without SERVFAIL. */
  note(isGood: boolean): void {
    if (isGood) {
      this.good++;
      this.#goodSinceProbe++;
      this.#refusals = 0;
    } else this.bad++;
    if (this.good + this.bad < MAX_COUNTED_ANSWERS) return;
    this.good /= 2;
    this.bad /= 2;
  }

  notePortUnreachable(): void {
    if (++this.#refusals >= REFUSALS_TO_LEAVE) this.#leave('silent');
  }

  noteProbe(result: ProbeResult): void {
    const answersClients = this.#goodSinceProbe > 0;
    this.#goodSinceProbe = 0;
    if (result === 'good' || answersClients) {
      this.#failedProbes = 0;
      this.#refusals = 0;
      if (this.#byProbe !== 'good' && ++this.#goodProbes >= PROBES_TO_RETURN) this.#return();
      return;
    }
    this.#goodProbes = 0;
    if (++this.#failedProbes >= PROBES_TO_LEAVE) this.#leave(result);
  }

  /** Compares this server with the server that has the lowest share of failed queries. At most twice per second. */
  compareWith(best: ServerHealth | undefined): void {
    const difference = best === undefined ? undefined : this.#worseThan(best);
    if (!this.#isWorse) {
      if (difference === undefined || difference.by < WORSE_BY || difference.sigmas < SIGMAS) return;
      this.#isWorse = true;
      this.#forget();
      return;
    }
    const isAsGood = difference !== undefined && difference.by < AS_GOOD_BY;
    if (!isAsGood && ++this.#judgementsWorse < JUDGEMENTS_TO_RETURN) return;
    if (difference !== undefined && !isAsGood) this.#judgementsWorse = 0;
    else this.#return();
  }

  /** Share of queries that failed. Undefined if too few queries were counted. */
  get badShare(): number | undefined {
    const asked = this.good + this.bad;
    return asked < MIN_COUNTED_ANSWERS ? undefined : this.bad / asked;
  }

  #worseThan(other: ServerHealth): { readonly by: number; readonly sigmas: number } | undefined {
    const [mine, theirs] = [this.badShare, other.badShare];
    if (mine === undefined || theirs === undefined) return undefined;
    const [asked, askedOther] = [this.good + this.bad, other.good + other.bad];
    const share = (this.bad + other.bad) / (asked + askedOther);
    const deviation = Math.sqrt(share * (1 - share) * (1 / asked + 1 / askedOther));
    const by = mine - theirs;
    return { by, sigmas: by / Math.max(deviation, Number.EPSILON) };
  }

  #leave(why: ProbeResult): void {
    this.#byProbe = why;
    this.#goodProbes = 0;
  }

  #return(): void {
    this.#byProbe = 'good';
    this.#isWorse = false;
    this.#failedProbes = 0;
    this.#refusals = 0;
    this.#forget();
  }

  #forget(): void {
    this.good = 0;
    this.bad = 0;
    this.#judgementsWorse = 0;
  }
}

export function compareAll(all: readonly ServerHealth[]): void {
  let best: ServerHealth | undefined;
  for (const health of all) {
    if (health.status > HealthStatus.worse || health.badShare === undefined) continue;
    if (best?.badShare === undefined || health.badShare < best.badShare) best = health;
  }
  for (const health of all) health.compareWith(best);
}
