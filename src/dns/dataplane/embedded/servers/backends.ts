/**
 * The DNS servers to which UDP queries are forwarded. Each query goes to a random server among those with the best
 * health status, so that clients cannot choose the server. If the answer is late or SERVFAIL, the query is retried
 * with another server.
 */
import type { Question } from '../../../protocol/index.ts';
import type { DnsServer, PacketFaults, ResponseTimes } from '../../index.ts';
import { afterReads } from '../afterReads.ts';
import { Backend, type BackendDependencies, type BackendOptions, type OnAnswer } from './backend.ts';
import type { Client, Counterpart } from './inFlight.ts';
import type { ListenAddresses } from './proxyHeader.ts';
import { RetryBudget } from './retryBudget.ts';
import { compareAll, HealthStatus, TRIAL_SHARE } from './serverHealth.ts';

const SWEEP_MS = 50;
const SWEEPS_PER_PROBE = 10;
/** A query without an answer after half a second counts as unanswered in time, even if it is not late yet. */
const SWEEPS_TO_BE_SLOW = 10;
/**
 * An unanswered query is retried with another server after this fraction of the answer timeout. The answer should
 * arrive before the client itself retries, which is after 0.5 to 1 s.
 */
const LATE_SHARE = 0.25;
/**
 * If no server is in use, a query is answered with SERVFAIL after this number of sweeps (450 ms), or earlier if the
 * query is late. Resolvers then retry with another name server of the zone.
 */
const SWEEPS_TO_SERVFAIL = 8;

export interface BackendsDependencies {
  readonly onAnswer: OnAnswer;
  readonly onUnanswered: BackendDependencies['onUnanswered'];
  readonly onNoServer: BackendDependencies['onNoServer'];
  readonly listenAddresses: ListenAddresses;
  readonly responseTimes: ResponseTimes;
  readonly faults: PacketFaults;
}

export class Backends {
  readonly all: readonly Backend[];
  readonly #budget = new RetryBudget();
  readonly #faults: PacketFaults;
  readonly #sweeps: NodeJS.Timeout;
  /**
   * For each of the last sweeps, the ticket (sequence number) that the next query to each server got. Queries with a
   * lower ticket than that of the oldest of these sweeps are late.
   */
  readonly #sentBefore: number[][] = [];
  readonly #sweepsToBeLate: number;
  readonly #sweepsPerProbe: number;
  #sweep = 0;
  #inUse: readonly Backend[];
  #onTrial: readonly Backend[] = [];

  constructor(
    addresses: readonly DnsServer[],
    options: BackendOptions,
    { onAnswer, onUnanswered, onNoServer, listenAddresses, responseTimes, faults }: BackendsDependencies,
  ) {
    if (addresses.length === 0) throw new Error('dns.servers is required: list at least one DNS server');
    const dependencies = {
      onAnswer,
      onUnanswered,
      onNoServer,
      listenAddresses,
      responseTimes,
      faults,
      retryElsewhere: (backend: Backend, ticket: number, servfail: Buffer | undefined) =>
        this.#retryElsewhere(backend, { inFlight: backend.inFlight, ticket, servfail }),
    };
    this.#faults = faults;
    this.all = addresses.map((address) => new Backend(address, options, dependencies));
    for (const backend of this.all) backend.allowsRetries = this.all.length > 1;
    this.#inUse = this.all;
    this.#sweepsToBeLate = Math.max(1, Math.round((options.timeoutMs * LATE_SHARE) / SWEEP_MS));
    this.#sweepsPerProbe = Math.max(SWEEPS_PER_PROBE, this.#sweepsToBeLate);
    // Whether a query is late is measured in sweeps, which a blocked event loop also delays. Otherwise the server
    // would be blamed for that delay.
    let sweptMs = performance.now();
    this.#sweeps = setInterval(() => {
      const nowMs = performance.now();
      responseTimes.noteLag(nowMs - sweptMs - SWEEP_MS);
      sweptMs = nowMs;
      this.#reporting(() => this.sweep(Date.now()));
    }, SWEEP_MS);
    this.#sweeps.unref();
  }

  async opened(): Promise<void> {
    await Promise.all(this.all.map((backend) => backend.opened()));
    this.#choose();
  }

  /** Returns false if the query could not be sent to any server. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet; an options object would be allocated
  forward(
    query: Buffer,
    question: Question,
    client: Client,
    frontend: number,
    nowMs: number,
    userZone: number,
  ): boolean {
    this.#budget.earn();
    return this.#pick().forward(query, question, client, frontend, nowMs, userZone);
  }

  /** False if every server fails its probes, does not answer them, or is unreachable. */
  get isAnyInUse(): boolean {
    return (this.#inUse[0]?.status ?? HealthStatus.unreachable) <= HealthStatus.worse;
  }

  inOrder(): DnsServer[] {
    const first = this.#pick();
    const others = this.all.filter((backend) => backend !== first);
    return [first, ...others.sort((one, other) => one.status - other.status)].map(({ address }) => address);
  }

  /** Retries late queries. At most twice per second, also probes the servers and compares their health. */
  sweep(nowMs: number): void {
    this.#sweep++;
    if (!this.isAnyInUse) this.#answerOlder();
    const before = this.#sentBefore[this.#sweep % this.#sweepsToBeLate];
    if (this.#sweepsToBeLate > SWEEPS_TO_BE_SLOW) this.#countSlow();
    for (const [index, backend] of this.all.entries()) backend.markLate(before?.[index] ?? 0);
    this.#sentBefore[this.#sweep % this.#sweepsToBeLate] = this.all.map(({ inFlight }) => inFlight.next);
    if (this.#sweep % this.#sweepsPerProbe === 0) {
      for (const backend of this.all) backend.probe(nowMs);
      compareAll(this.all.map(({ health }) => health));
    }
    this.#choose();
  }

  /** Called every second. Lets queries expire whose answers have not arrived by now. */
  tick(nowMs: number): void {
    afterReads(() =>
      this.#reporting(() => {
        for (const backend of this.all) backend.tick(nowMs);
      }),
    );
  }

  close(): void {
    clearInterval(this.#sweeps);
    for (const backend of this.all) backend.close();
  }

  #reporting(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#faults.note(error, Date.now());
    }
  }

  #countSlow(): void {
    const before = this.#sentBefore[(this.#sweep - SWEEPS_TO_BE_SLOW) % this.#sweepsToBeLate];
    for (const [index, backend] of this.all.entries()) backend.countSlow(before?.[index] ?? 0);
  }

  #answerOlder(): void {
    const sweeps = Math.min(SWEEPS_TO_SERVFAIL, this.#sweepsToBeLate);
    const before = this.#sentBefore[(this.#sweep - sweeps) % this.#sweepsToBeLate];
    for (const [index, backend] of this.all.entries()) backend.answerOlder(before?.[index] ?? 0);
  }

  #choose(): void {
    const best = Math.min(...this.all.map(({ status }) => status));
    this.#inUse = this.all.filter(({ status }) => status === best);
    this.#onTrial =
      best === HealthStatus.inUse ? this.all.filter(({ status }) => status === HealthStatus.worse) : [];
  }

  #pick(): Backend {
    const isTrial = this.#onTrial.length > 0 && Math.random() < TRIAL_SHARE;
    const backends = isTrial ? this.#onTrial : this.#inUse;
    // The list is not empty, because at least one server has the best status.
    return (backends.length === 1 ? backends[0] : backends[(Math.random() * backends.length) | 0]) as Backend;
  }

  #retryElsewhere(backend: Backend, first: Counterpart): boolean {
    const query = first.inFlight.kept(first.ticket);
    if (query === undefined) return false;
    const others = this.#inUse.filter((other) => other !== backend);
    const other = others[Math.floor(Math.random() * others.length)];
    if (other === undefined || !this.#budget.take()) return false;
    if (!other.forwardAgain(query, first, Date.now())) return false;
    backend.retried++;
    return true;
  }
}
