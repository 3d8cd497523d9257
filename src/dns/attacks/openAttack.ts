/** Counts the queries of one active attack, second by second, and returns the attack as reported. */

import type { DetectedBy, LimitedQuery, Zone } from '../detector/index.ts';
import { AnswerKind, rcodeName } from '../protocol/index.ts';
import {
  type Attack,
  type AttackChange,
  type AttackRates,
  type AttackRule,
  MAX_ZONES_NAMED,
} from './attack.ts';
import { LimitedTop, type SampleContext } from './limitedTop.ts';

/** Maximum number of changes stored per attack. Of more changes, the first ones and the newest one are stored. */
const MAX_CHANGES = 50;
/** Maximum length of each list of most frequent values that is stored after the attack has ended. */
const TOP_WHEN_ENDED = 20;
const OTHER_KINDS: Readonly<Record<number, string>> = {
  [AnswerKind.noData]: 'NODATA',
  [AnswerKind.denial]: 'NXDOMAIN',
  [AnswerKind.truncated]: 'TRUNCATED',
  [AnswerKind.badVersion]: 'BADVERS',
};

export interface AttackStart {
  readonly id: string;
  readonly detectedBy: DetectedBy;
  readonly startedMs: number;
}

/** Totals over the duration of an attack. */
type Counted = Pick<Attack, 'queries' | 'unknown_names' | 'limited' | 'would_drop' | 'known_names'>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };

export class OpenAttack {
  readonly id: string;
  readonly startedMs: number;
  lastSeenMs: number;
  rule: AttackRule | undefined;
  readonly #detectedBy: DetectedBy;
  readonly #zones: Set<string>;
  readonly #counted: Mutable<Counted>;
  readonly #codes: Record<string, number>;
  readonly #changes: AttackChange[];
  readonly #top: LimitedTop;
  #zoneCount: number;
  #now: AttackRates;
  #peak: AttackRates;
  #reportedPeak: number;
  #second = { ...NO_RATES, seconds: 0 };

  constructor(start: AttackStart, random: () => number, stored?: Attack) {
    const { id, detectedBy, startedMs } = start;
    this.id = id;
    this.startedMs = startedMs;
    this.lastSeenMs = stored === undefined ? startedMs : Date.parse(stored.last_seen_on);
    this.rule = stored?.rule;
    this.#detectedBy = detectedBy;
    this.#zones = new Set(stored?.zones);
    this.#zoneCount = stored?.zone_count ?? 0;
    this.#counted = {
      queries: stored?.queries ?? 0,
      unknown_names: stored?.unknown_names ?? 0,
      limited: stored?.limited ?? 0,
      would_drop: stored?.would_drop ?? 0,
      known_names: { ...(stored?.known_names ?? { asked: 0, answered: 0, limited: 0, would_drop: 0 }) },
    };
    this.#codes = { ...stored?.response_codes };
    this.#changes = [...(stored?.changes ?? [])];
    this.#now = NO_RATES;
    this.#peak = stored?.peak ?? NO_RATES;
    this.#reportedPeak = this.#peak.queries;
    this.#top = new LimitedTop(stored, random);
  }

  get zoneCount(): number {
    return this.#zoneCount;
  }

  hasZone(name: string): boolean {
    return this.#zones.has(name);
  }

  /** Adds an attacked zone. The names of at most {@link MAX_ZONES_NAMED} zones are stored; all zones are counted. */
  addZone(name: string): void {
    if (this.#zones.has(name)) return;
    this.#zoneCount++;
    if (this.#zones.size < MAX_ZONES_NAMED) this.#zones.add(name);
  }

  /** Adds what an attacked zone has counted since the last call for this zone. */
  addCounts(zone: Zone, nowMs: number): void {
    const { seconds, queries, unknown, users, refusals, answers } = zone.attackCounts.take();
    const counted = this.#counted;
    counted.queries += queries;
    counted.unknown_names += unknown;
    counted.limited += refusals.limited;
    counted.would_drop += refusals.wouldDrop;
    // Users' queries are counted in the second in which they ended. A pending query does not count as unanswered.
    counted.known_names.asked += users.answered + users.limited + users.unanswered;
    counted.known_names.answered += users.answered;
    counted.known_names.limited += users.limited;
    counted.known_names.would_drop += refusals.knownWouldDrop;
    for (const [kind, many] of answers.entries())
      if (many > 0) this.#codes[codeOf(kind)] = (this.#codes[codeOf(kind)] ?? 0) + many;
    const second = this.#second;
    second.queries += queries;
    second.unknown_names += unknown;
    second.limited += refusals.limited;
    second.would_drop += refusals.wouldDrop;
    second.seconds = Math.max(second.seconds, seconds);
    if (zone.isReported(nowMs)) this.lastSeenMs = nowMs;
  }

  addSample(query: LimitedQuery, asked: SampleContext): void {
    this.#top.add(query, asked);
  }

  /** Ends the current second. Returns true if the peak query rate is at least twice the last reported peak. */
  endSecond(): boolean {
    const { seconds, ...counts } = this.#second;
    this.#now = ratesFrom((rate) => Math.round(counts[rate] / Math.max(1, seconds)));
    this.#second = { ...NO_RATES, seconds: 0 };
    this.#peak = ratesFrom((rate) => Math.max(this.#peak[rate], this.#now[rate]));
    if (this.#reportedPeak > 0 && this.#peak.queries < 2 * this.#reportedPeak) return false;
    const isChange = this.#reportedPeak > 0;
    this.#reportedPeak = this.#peak.queries;
    return isChange;
  }

  noteChange(change: Omit<AttackChange, 'at'>, nowMs: number): void {
    // If the list is full, replace the newest change. The first changes show how the attack started, and the last
    // change shows its current state.
    if (this.#changes.length >= MAX_CHANGES) this.#changes.pop();
    this.#changes.push({ at: new Date(nowMs).toISOString(), ...change });
  }

  get peakQueries(): number {
    return this.#peak.queries;
  }

  /** Returns the attack as stored and reported. */
  toAttack(state: Attack['state'] = 'active'): Attack {
    const counted = this.#counted;
    const hasEnded = state === 'ended';
    // If the clock was set back, the attack was last seen before it started.
    const lastSeenOn = new Date(Math.max(this.startedMs, this.lastSeenMs)).toISOString();
    return {
      id: this.id,
      state,
      zones: [...this.#zones],
      zone_count: this.#zoneCount,
      detected_by: this.#detectedBy,
      rule: this.rule,
      started_on: new Date(this.startedMs).toISOString(),
      last_seen_on: lastSeenOn,
      ended_on: hasEnded ? lastSeenOn : undefined,
      now: hasEnded ? NO_RATES : this.#now,
      peak: this.#peak,
      ...counted,
      known_names: { ...counted.known_names },
      limited_share: counted.queries === 0 ? 0 : Math.min(1, counted.limited / counted.queries),
      response_codes: { ...this.#codes },
      ...this.#top.toLists(hasEnded ? TOP_WHEN_ENDED : undefined),
      changes: [...this.#changes],
    };
  }
}

const ratesFrom = (of: (rate: keyof AttackRates) => number): AttackRates => ({
  queries: of('queries'),
  unknown_names: of('unknown_names'),
  limited: of('limited'),
  would_drop: of('would_drop'),
});
const NO_RATES = ratesFrom(() => 0);

const codeOf = (kind: number): string => OTHER_KINDS[kind] ?? rcodeName(kind);
