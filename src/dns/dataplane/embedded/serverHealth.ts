/**
 * How well a server does, from what clients cannot bring about: probes of our own, and how it compares with the others. Who asks
 * what cannot choose the server that is asked, so a name that nobody answers makes all of them look alike. No I/O.
 */

/** How good a server is, the best first: queries go to those of the best standing that there is. */
export const Standing = { inUse: 0, worse: 1, failing: 2, silent: 3, unreachable: 4 } as const;
export type Standing = (typeof Standing)[keyof typeof Standing];

export type ProbeResult = 'good' | 'failing' | 'silent';

/** One lost packet, or one moment in which the server reads its zones, is no fault. */
const PROBES_TO_LEAVE = 2;
const PROBES_TO_RETURN = 2;
/** So many packets in a row to a port on which nobody listens. */
const REFUSALS_TO_LEAVE = 20;
/** What is remembered of a server's answers: a change shows after some tens, and chance evens out. */
const REMEMBERED = 256;
const ENOUGH = 32;
/** Differences that users feel, beyond what chance makes of random choices. */
const WORSE_BY = 0.2;
const AS_GOOD_BY = 0.1;
const SIGMAS = 4;
/** One that is worse gets every so many-th query as a trial: another server answers those that it does not. */
export const TRIAL_SHARE = 1 / 64;
/** Where a trial gives no result, for want of queries, it is used again: after ten seconds, at two judgements a second. */
const JUDGEMENTS_TO_RETURN = 20;

export class ServerHealth {
  /** Right answers in time, and those that were not, of queries that were asked of this server first. */
  good = 0;
  bad = 0;
  #byProbe: ProbeResult = 'good';
  #isWorse = false;
  #judgementsWorse = 0;
  /** Good answers to clients since the last probe: a server that gives them is not left out for its probe. */
  #goodSinceProbe = 0;
  #failedProbes = 0;
  #goodProbes = 0;
  #refusals = 0;

  get standing(): Standing {
    if (this.#byProbe !== 'good') return Standing[this.#byProbe];
    return this.#isWorse ? Standing.worse : Standing.inUse;
  }

  /** A client's query, asked of this server first, was answered rightly in time, or was not. */
  note(isGood: boolean): void {
    if (isGood) {
      this.good++;
      this.#goodSinceProbe++;
      this.#refusals = 0;
    } else this.bad++;
    if (this.good + this.bad < REMEMBERED) return;
    this.good /= 2;
    this.bad /= 2;
  }

  /** The system says that nobody listens there. */
  noteRefusal(): void {
    if (++this.#refusals >= REFUSALS_TO_LEAVE) this.#leave('silent');
  }

  noteProbe(result: ProbeResult): void {
    const answersClients = this.#goodSinceProbe > 0;
    this.#goodSinceProbe = 0;
    if (result === 'good') {
      this.#failedProbes = 0;
      this.#refusals = 0;
      if (this.#byProbe !== 'good' && ++this.#goodProbes >= PROBES_TO_RETURN) this.#return();
      return;
    }
    this.#goodProbes = 0;
    this.#failedProbes = answersClients ? 0 : this.#failedProbes + 1;
    if (this.#failedProbes >= PROBES_TO_LEAVE) this.#leave(result);
  }

  /** Compares it with the best of all. Twice a second. */
  judge(best: ServerHealth | undefined): void {
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

  /** The share of queries that it did not answer well; undefined where too few were asked to say. */
  get badShare(): number | undefined {
    const asked = this.good + this.bad;
    return asked < ENOUGH ? undefined : this.bad / asked;
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

/** Compares all servers with the best of them. */
export function judgeAll(all: readonly ServerHealth[]): void {
  let best: ServerHealth | undefined;
  for (const health of all) {
    if (health.standing > Standing.worse || health.badShare === undefined) continue;
    if (best?.badShare === undefined || health.badShare < best.badShare) best = health;
  }
  for (const health of all) health.judge(best);
}
