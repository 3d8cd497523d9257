/** Writes the status, minute records and attacks of this guard to the database that all guards share. */
import { inBackground } from '../../platform/background/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';
import { AttackReporter } from './attackReporter.ts';
import type { FleetMember } from './fleetMember.ts';
import type { FleetStore } from './fleetStore.ts';
import type { LocalRecords } from './localRecords.ts';

const MINUTE_MS = 60_000;
const TICK_MS = 1000;
/** Interval between reports, which is also the maximum age of the status of this guard in the shared database. */
const REPORT_MS = 10_000;
const FORGET_MS = 3_600_000;
const MINUTES_PER_WRITE = 500;
/** A string that sorts after every rule id. */
const LAST_RULE = '\uffff';

export interface FleetReporterDependencies {
  readonly fleet: FleetStore;
  readonly self: FleetMember;
  readonly local: LocalRecords;
  readonly log: Log;
  readonly now?: () => number;
}

export class FleetReporter {
  readonly #dependencies: FleetReporterDependencies;
  readonly #now: () => number;
  readonly #attacks: AttackReporter;
  /** First minute that may not be reported completely. Undefined if the shared database must be asked for it. */
  #minute: number | undefined;
  #hasMinutes = true;
  #isSeen = false;
  #isFailing = false;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #forgotAtMs: number;
  #completeAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> | undefined;

  constructor(dependencies: FleetReporterDependencies) {
    this.#dependencies = dependencies;
    this.#attacks = new AttackReporter(dependencies);
    this.#now = dependencies.now ?? Date.now;
    this.#forgotAtMs = this.#now();
    this.#completeAtMs = this.#now();
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#tick();
  }

  /** First minute that the shared database may lack; it contains all earlier ones. Undefined if this is unknown. */
  get reportedUntil(): number | undefined {
    return this.#minute;
  }

  /** Number of seconds since the last report that succeeded. */
  get lagSeconds(): number {
    return Math.max(0, (this.#now() - this.#completeAtMs) / 1000);
  }

  onMinutesStored(records: readonly MinuteRecord[]): void {
    if (records.length === 0) return;
    // If the clock was set back, these may be minutes that were already reported. They are reported again.
    for (const { minute } of records)
      if (this.#minute !== undefined) this.#minute = Math.min(this.#minute, minute);
    this.#hasMinutes = true;
    inBackground('report to the fleet', () => this.report());
  }

  onAttacksStored(attacks: readonly Attack[]): void {
    this.#attacks.enqueue(attacks);
    inBackground('report to the fleet', () => this.report());
  }

  /** Reports status, minutes and attacks. Never rejects: the next report contains what a failed report lacked. */
  report(): Promise<void> {
    this.#reporting ??= this.#report()
      .then(
        () => this.#succeeded(),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#reporting = undefined;
      });
    return this.#reporting;
  }

  /** Sends a last report, and waits at most `maxMs` for it. */
  async stop(maxMs: number): Promise<void> {
    clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
    });
    // If a report is in progress, another one follows it: the first may have started before the last records were
    // stored.
    await Promise.race([Promise.resolve(this.#reporting).then(() => this.report()), late]);
    clearTimeout(timer);
  }

  #tick(): void {
    const isDue = Math.abs(this.#now() - this.#reportedAtMs) >= REPORT_MS;
    if (this.#dependencies.self.refreshRule() || isDue)
      inBackground('report to the fleet', () => this.report());
  }

  async #report(): Promise<void> {
    const { fleet, self } = this.#dependencies;
    this.#reportedAtMs = this.#now();
    await this.#tellSelf();
    if (this.#minute === undefined) await this.#resume();
    await this.#tellMinutes();
    await this.#attacks.report(self.identity);
    const nowMs = this.#now();
    if (Math.abs(nowMs - this.#forgotAtMs) < FORGET_MS) return;
    this.#forgotAtMs = nowMs;
    await fleet.deleteExpired(nowMs);
  }

  async #tellSelf(): Promise<void> {
    const { fleet, self, log } = this.#dependencies;
    const { run } = self.identity;
    const other = await fleet.heartbeat(self.identity, self.report());
    const isShared = this.#isSeen && other !== undefined && other.run !== run;
    this.#isSeen = true;
    // Two guards with copies of one data folder are running. The guard that started last takes a new id.
    if (!isShared || `${other.startedOn} ${other.run}` > `${self.startedOn} ${run}`) return;
    log.warn({ instance: self.id }, 'another guard uses a copy of this data folder; taking a new id');
    await self.renewIdentity();
    this.#minute = undefined;
    await fleet.heartbeat(self.identity, self.report());
  }

  /** Asks the shared database which records of this guard it contains, and continues after them. */
  async #resume(): Promise<void> {
    const { fleet, self } = this.#dependencies;
    const { minute = 0, attacksFromMs = 0 } = await fleet.resumeFrom(self.identity);
    await this.#attacks.reportFrom(self.identity, Math.max(attacksFromMs, self.sinceMs));
    this.#minute = Math.max(minute, Math.ceil(self.sinceMs / MINUTE_MS));
    this.#hasMinutes = true;
  }

  async #tellMinutes(): Promise<void> {
    const { fleet, self, local } = this.#dependencies;
    if (!this.#hasMinutes || this.#minute === undefined) return;
    this.#hasMinutes = false;
    let after: readonly [number, string] = [this.#minute - 1, LAST_RULE];
    for (;;) {
      const records = local.minutesAfter(after, MINUTES_PER_WRITE);
      const last = records.at(-1);
      if (last === undefined) return;
      await fleet.putMinutes(self.identity, records);
      after = [last.minute, last.ruleId];
      // The next report starts with the last minute again, because a restart may add counts to this minute. If an
      // older minute changed during the write, `#minute` is already the older one and must not be changed.
      if (!this.#hasMinutes) this.#minute = last.minute;
      if (records.length < MINUTES_PER_WRITE) return;
    }
  }

  #succeeded(): void {
    this.#completeAtMs = this.#now();
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#dependencies.log.info({}, 'reporting counts to PostgreSQL again');
  }

  #failed(error: unknown): void {
    // Writes may have been lost, so the next report first asks the shared database what it contains.
    this.#minute = undefined;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#dependencies.log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'cannot report counts to PostgreSQL; buffering locally',
    );
  }
}
