/** An attack that lasts: what is added to it second by second, and how it stands. */

import type { NoticedBy, RefusedQuery, Zone } from '../detector/index.ts';
import { AnswerKind } from '../protocol/index.ts';
import { type Attack, type AttackChange, type AttackRates, MAX_ZONES_NAMED, type MetRule } from './attack.ts';
import { type AskedIn, RefusedTop } from './refusedTop.ts';

/** Changes that are kept: those in the middle of an attack that has many are left out. */
const MAX_CHANGES = 50;
/** Of each list, once the attack is over. */
const TOP_WHEN_ENDED = 20;
const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const OTHER_KINDS: Readonly<Record<number, string>> = {
  [AnswerKind.noData]: 'NODATA',
  [AnswerKind.denial]: 'NXDOMAIN',
  [AnswerKind.truncated]: 'TRUNCATED',
};

export interface AttackStart {
  readonly id: string;
  readonly noticedBy: NoticedBy;
  readonly startedMs: number;
}

/** What is counted of it. */
type Counted = Pick<Attack, 'queries' | 'unknown_names' | 'refused' | 'would_refuse' | 'known_names'>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };

export class OpenAttack {
  readonly id: string;
  readonly startedMs: number;
  lastSeenMs: number;
  rule: MetRule | undefined;
  readonly #noticedBy: NoticedBy;
  readonly #zones: Set<string>;
  readonly #counted: Mutable<Counted>;
  readonly #codes: Record<string, number>;
  readonly #changes: AttackChange[];
  readonly #top: RefusedTop;
  #zoneCount: number;
  #now: AttackRates;
  #peak: AttackRates;
  #toldPeak: number;
  /** What this second adds. */
  #second = { queries: 0, unknown_names: 0, refused: 0, seconds: 0 };

  constructor(start: AttackStart, random: () => number, stored?: Attack) {
    const { id, noticedBy, startedMs } = start;
    this.id = id;
    this.startedMs = startedMs;
    this.lastSeenMs = stored === undefined ? startedMs : Date.parse(stored.last_seen_on);
    this.rule = stored?.rule;
    this.#noticedBy = noticedBy;
    this.#zones = new Set(stored?.zones);
    this.#zoneCount = stored?.zone_count ?? 0;
    this.#counted = {
      queries: stored?.queries ?? 0,
      unknown_names: stored?.unknown_names ?? 0,
      refused: stored?.refused ?? 0,
      would_refuse: stored?.would_refuse ?? 0,
      known_names: { ...(stored?.known_names ?? { asked: 0, answered: 0, refused: 0 }) },
    };
    this.#codes = { ...stored?.response_codes };
    this.#changes = [...(stored?.changes ?? [])];
    this.#now = NOTHING;
    this.#peak = stored?.peak ?? NOTHING;
    this.#toldPeak = this.#peak.queries;
    this.#top = new RefusedTop(stored, random);
  }

  get zoneCount(): number {
    return this.#zoneCount;
  }

  hasZone(name: string): boolean {
    return this.#zones.has(name);
  }

  /** A zone more that it is about. One beyond those that are named is only counted. */
  addZone(name: string): void {
    if (this.#zones.has(name)) return;
    this.#zoneCount++;
    if (this.#zones.size < MAX_ZONES_NAMED) this.#zones.add(name);
  }

  /** Adds what came in a zone of it since the last time. */
  addCounts(zone: Zone, nowMs: number): void {
    const { seconds, queries, unknown, knownAnswered, refusals, answers } = zone.attackCounts.take();
    const counted = this.#counted;
    counted.queries += queries;
    counted.unknown_names += unknown;
    counted.refused += refusals.refused;
    counted.would_refuse += refusals.wouldRefuse;
    counted.known_names.asked += queries - unknown;
    counted.known_names.answered += knownAnswered;
    counted.known_names.refused += refusals.known;
    for (const [kind, many] of answers.entries())
      if (many > 0) this.#codes[codeOf(kind)] = (this.#codes[codeOf(kind)] ?? 0) + many;
    const second = this.#second;
    second.queries += queries;
    second.unknown_names += unknown;
    second.refused += refusals.refused + refusals.wouldRefuse;
    second.seconds = Math.max(second.seconds, seconds);
    if (zone.noticed(nowMs)) this.lastSeenMs = nowMs;
  }

  addSample(query: RefusedQuery, asked: AskedIn): void {
    this.#top.add(query, asked);
  }

  /** Ends the second; true where it has become twice as large as when it was told of last. */
  endSecond(): boolean {
    const { queries, unknown_names, refused, seconds } = this.#second;
    const by = Math.max(1, seconds);
    this.#now = {
      queries: Math.round(queries / by),
      unknown_names: Math.round(unknown_names / by),
      refused: Math.round(refused / by),
    };
    this.#second = { queries: 0, unknown_names: 0, refused: 0, seconds: 0 };
    this.#peak = {
      queries: Math.max(this.#peak.queries, this.#now.queries),
      unknown_names: Math.max(this.#peak.unknown_names, this.#now.unknown_names),
      refused: Math.max(this.#peak.refused, this.#now.refused),
    };
    if (this.#toldPeak > 0 && this.#peak.queries < 2 * this.#toldPeak) return false;
    const isChange = this.#toldPeak > 0;
    this.#toldPeak = this.#peak.queries;
    return isChange;
  }

  noteChange(change: Omit<AttackChange, 'at'>, nowMs: number): void {
    // The first ones tell how it began, the last one how it is now.
    if (this.#changes.length >= MAX_CHANGES) this.#changes.pop();
    this.#changes.push({ at: new Date(nowMs).toISOString(), ...change });
  }

  get peakQueries(): number {
    return this.#peak.queries;
  }

  /** How it stands; with `endedMs` as it ended. */
  told(endedMs?: number): Attack {
    const counted = this.#counted;
    return {
      id: this.id,
      state: endedMs === undefined ? 'active' : 'ended',
      zones: [...this.#zones],
      zone_count: this.#zoneCount,
      noticed_by: this.#noticedBy,
      rule: this.rule,
      started_on: new Date(this.startedMs).toISOString(),
      last_seen_on: new Date(this.lastSeenMs).toISOString(),
      ended_on: endedMs === undefined ? undefined : new Date(endedMs).toISOString(),
      now: endedMs === undefined ? this.#now : NOTHING,
      peak: this.#peak,
      ...counted,
      known_names: { ...counted.known_names },
      refused_share: counted.queries === 0 ? 0 : Math.min(1, counted.refused / counted.queries),
      response_codes: { ...this.#codes },
      ...this.#top.told(endedMs === undefined ? undefined : TOP_WHEN_ENDED),
      changes: [...this.#changes],
    };
  }
}

const NOTHING: AttackRates = { queries: 0, unknown_names: 0, refused: 0 };

const codeOf = (kind: number): string => OTHER_KINDS[kind] ?? RCODES[kind] ?? `RCODE${kind}`;
