/**
 * The servers behind the guard. A query goes to one of those of the best standing, chosen at random, so that nobody who asks can
 * choose who gets what; what is not answered in time, or with SERVFAIL, is asked of another.
 */
import type { Question } from '../../protocol/index.ts';
import type { DnsServer, PacketFaults } from '../index.ts';
import { Backend, type BackendOptions, type OnAnswer } from './backend.ts';
import type { Client, Counterpart } from './inFlight.ts';
import type { ListenAddresses } from './proxyHeader.ts';
import { RetryBudget } from './retryBudget.ts';
import { judgeAll, Standing, TRIAL_SHARE } from './serverHealth.ts';

const SWEEP_MS = 50;
const SWEEPS_PER_PROBE = 10;
/** Of the time limit: clients ask again after half a second to a second, and should have the other server's answer by then. */
const LATE_SHARE = 0.25;

export interface BackendsDependencies {
  readonly onAnswer: OnAnswer;
  readonly listenAddresses: ListenAddresses;
  readonly faults: PacketFaults;
}

export class Backends {
  readonly all: readonly Backend[];
  readonly #budget = new RetryBudget();
  readonly #sweeps: NodeJS.Timeout;
  /** The next ticket of each server, by sweep: what was sent before the oldest of them is late. */
  readonly #sentBefore: number[][] = [];
  readonly #sweepsToBeLate: number;
  readonly #sweepsPerProbe: number;
  #sweep = 0;
  #inUse: readonly Backend[];
  #onTrial: readonly Backend[] = [];

  constructor(
    addresses: readonly DnsServer[],
    options: BackendOptions,
    { onAnswer, listenAddresses, faults }: BackendsDependencies,
  ) {
    if (addresses.length === 0) throw new Error('the guard has no server behind it: name one in dns.servers');
    const dependencies = {
      onAnswer,
      listenAddresses,
      faults,
      askAnother: (backend: Backend, ticket: number, servfail: Buffer | undefined) =>
        this.#askAnother(backend, { inFlight: backend.inFlight, ticket, servfail }),
    };
    this.all = addresses.map((address) => new Backend(address, options, dependencies));
    for (const backend of this.all) backend.keepsQueries = this.all.length > 1;
    this.#inUse = this.all;
    this.#sweepsToBeLate = Math.max(1, Math.round((options.timeoutMs * LATE_SHARE) / SWEEP_MS));
    this.#sweepsPerProbe = Math.max(SWEEPS_PER_PROBE, this.#sweepsToBeLate);
    // In sweeps and not in milliseconds: time in which this thread was held up is no server's fault.
    this.#sweeps = setInterval(() => {
      try {
        this.sweep(Date.now());
      } catch (error) {
        faults.note(error, Date.now());
      }
    }, SWEEP_MS);
    this.#sweeps.unref();
  }

  async opened(): Promise<void> {
    await Promise.all(this.all.map((backend) => backend.opened()));
    this.#choose();
  }

  /** False when the query could not be sent to any server. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  forward(query: Buffer, question: Question, client: Client, frontend: number, nowMs: number): boolean {
    this.#budget.earn();
    return this.#pick().forward(query, question, client, frontend, nowMs);
  }

  /** The servers in the order in which a TCP connection tries them. */
  inOrder(): DnsServer[] {
    const first = this.#pick();
    const others = this.all.filter((backend) => backend !== first);
    return [first, ...others.sort((one, other) => one.standing - other.standing)].map(
      ({ address }) => address,
    );
  }

  /** Finds what is late, and every half second who is well. */
  sweep(nowMs: number): void {
    this.#sweep++;
    const before = this.#sentBefore[this.#sweep % this.#sweepsToBeLate];
    for (const [index, backend] of this.all.entries()) backend.makeLate(before?.[index] ?? 0);
    this.#sentBefore[this.#sweep % this.#sweepsToBeLate] = this.all.map(({ inFlight }) => inFlight.next);
    if (this.#sweep % this.#sweepsPerProbe === 0) {
      for (const backend of this.all) backend.probe(nowMs);
      judgeAll(this.all.map(({ health }) => health));
    }
    this.#choose();
  }

  tick(nowMs: number): void {
    for (const backend of this.all) backend.tick(nowMs);
  }

  close(): void {
    clearInterval(this.#sweeps);
    for (const backend of this.all) backend.close();
  }

  #choose(): void {
    const best = Math.min(...this.all.map(({ standing }) => standing));
    this.#inUse = this.all.filter(({ standing }) => standing === best);
    this.#onTrial =
      best === Standing.inUse ? this.all.filter(({ standing }) => standing === Standing.worse) : [];
  }

  #pick(): Backend {
    const isTrial = this.#onTrial.length > 0 && Math.random() < TRIAL_SHARE;
    const backends = isTrial ? this.#onTrial : this.#inUse;
    // Never empty: some server has the best standing that there is.
    return (backends.length === 1 ? backends[0] : backends[(Math.random() * backends.length) | 0]) as Backend;
  }

  #askAnother(backend: Backend, first: Counterpart): boolean {
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
