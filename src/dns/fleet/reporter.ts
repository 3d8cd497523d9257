/** Tells the other guards, through the store that they share, that this one is there and what it has counted. */
import type { Log } from '../../platform/logging/index.ts';
import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';
import { AttackTeller } from './attackTeller.ts';
import type { FleetStore } from './fleetStore.ts';
import type { GuardSelf } from './guardSelf.ts';
import type { LocalRecords } from './localRecords.ts';

const MINUTE_MS = 60_000;
const TICK_MS = 1000;
/** So long an attack, or that a guard is there, may be unknown to others. */
const REPORT_MS = 10_000;
const FORGET_MS = 3_600_000;
const MINUTES_PER_WRITE = 500;
/** Sorts after every id of a rule. */
const LAST_RULE = '\uffff';

export interface FleetReporterDependencies {
  readonly fleet: FleetStore;
  readonly self: GuardSelf;
  readonly local: LocalRecords;
  readonly log: Log;
  readonly now?: () => number;
}

export class FleetReporter {
  readonly #dependencies: FleetReporterDependencies;
  readonly #now: () => number;
  readonly #attacks: AttackTeller;
  /** From this minute on something may not be told; undefined: the store has to be asked. */
  #minute: number | undefined;
  #hasMinutes = true;
  #isSeen = false;
  #isFailing = false;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #forgotAtMs: number;
  #toldAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> | undefined;

  constructor(dependencies: FleetReporterDependencies) {
    this.#dependencies = dependencies;
    this.#attacks = new AttackTeller(dependencies);
    this.#now = dependencies.now ?? Date.now;
    this.#forgotAtMs = this.#now();
    this.#toldAtMs = this.#now();
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#tick();
  }

  /** Before this minute the store knows all. */
  get toldUntil(): number | undefined {
    return this.#minute;
  }

  /** How long ago the store knew all that there was to tell. */
  get behindSeconds(): number {
    return Math.max(0, (this.#now() - this.#toldAtMs) / 1000);
  }

  /** These are stored here. */
  minutesStored(records: readonly MinuteRecord[]): void {
    if (records.length === 0) return;
    // A clock that was set back adds to minutes that were told.
    for (const { minute } of records)
      if (this.#minute !== undefined) this.#minute = Math.min(this.#minute, minute);
    this.#hasMinutes = true;
    void this.report();
  }

  /** These have changed here, and are stored. */
  attacksStored(attacks: readonly Attack[]): void {
    this.#attacks.note(attacks);
    void this.report();
  }

  /** Tells all that is to be told. Never rejects: what fails is told the next time. */
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

  /** Tells a last time; `maxMs` is all that it waits for it. */
  async stop(maxMs: number): Promise<void> {
    clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
    });
    // One that is under way may not have seen what was stored last.
    await Promise.race([Promise.resolve(this.#reporting).then(() => this.report()), late]);
    clearTimeout(timer);
  }

  #tick(): void {
    const isDue = Math.abs(this.#now() - this.#reportedAtMs) >= REPORT_MS;
    if (this.#dependencies.self.noteRule() || isDue) void this.report();
  }

  async #report(): Promise<void> {
    const { fleet, self } = this.#dependencies;
    this.#reportedAtMs = this.#now();
    await this.#tellSelf();
    if (this.#minute === undefined) await this.#resume();
    await this.#tellMinutes();
    await this.#attacks.tell(self.self);
    const nowMs = this.#now();
    if (Math.abs(nowMs - this.#forgotAtMs) < FORGET_MS) return;
    this.#forgotAtMs = nowMs;
    await fleet.forget(nowMs);
  }

  async #tellSelf(): Promise<void> {
    const { fleet, self, log } = this.#dependencies;
    const { run } = self.self;
    const other = await fleet.seen(self.self, self.told());
    const isShared = this.#isSeen && other !== undefined && other.run !== run;
    this.#isSeen = true;
    // A data folder was copied, and both guards run: the one that was started last becomes another guard.
    if (!isShared || `${other.startedOn} ${other.run}` > `${self.startedOn} ${run}`) return;
    log.warn(
      { instance: self.id },
      'another guard has the same id, from a copy of the data folder: this one takes another',
    );
    await self.becomeAnother();
    this.#minute = undefined;
    await fleet.seen(self.self, self.told());
  }

  /** What the store knows it was told in order: the rest begins behind it. */
  async #resume(): Promise<void> {
    const { fleet, self } = this.#dependencies;
    const { minute = 0, attacksFromMs = 0 } = await fleet.resumeFrom(self.self);
    await this.#attacks.tellFrom(self.self, Math.max(attacksFromMs, self.sinceMs));
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
      await fleet.putMinutes(self.self, records);
      after = [last.minute, last.ruleId];
      // The last minute is told again with the next: a restart adds to it. Where an older one has changed meanwhile, that is next.
      if (!this.#hasMinutes) this.#minute = last.minute;
      if (records.length < MINUTES_PER_WRITE) return;
    }
  }

  #succeeded(): void {
    this.#toldAtMs = this.#now();
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#dependencies.log.info({}, 'what the guard counts is told to the database again');
  }

  #failed(error: unknown): void {
    // What was lost on the way, or by the database, is found out by asking it.
    this.#minute = undefined;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#dependencies.log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'what the guard counts cannot be told to the database: it is kept here, and told later',
    );
  }
}
