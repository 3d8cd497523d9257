/**
 * Zones, users and an attacker around a detector whose clock the test sets. Weeks are simulated in minutes: rates by
 * class of name are added to the counters of a zone, and only learnable names are learned one by one.
 */
import { AttackDetector, outcomeOf, ZONE_BYTES, ZoneSeed } from '../../../src/dns/detector/index.ts';
import {
  AnswerKind,
  nameToWire,
  QueryType,
  type Question,
  questionOf,
} from '../../../src/dns/protocol/index.ts';
import type { Rule } from '../../../src/rules/index.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const START = Date.UTC(2026, 10, 2);
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
export const DAY_MINUTES = 1440;
const SECONDS = 60;
const USERS_NAMES = 150;
const USERS_PER_SECOND = 40;
/** Queries for misspelled names that users send to each zone per second. */
const TYPOS_PER_SECOND = 4;
const MAX_NAMES = 1200;

export const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-01T10:00:00.000000+00:00',
  modified_on: '2026-11-01T10:00:00.000000+00:00',
};

/** Sensitivities of the rule. */
export type Sensitivities = Pick<Rule, 'profile_sensitivity' | 'rate_sensitivity' | 'burst_sensitivity'>;
const LOW: Sensitivities = {
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};
/** Servers that answer a smaller share of the queries are unhealthy. */
const HEALTHY_SHARE = 0.98;
/** Fraction of 1 by which the choice of answered queries moves, so that no name is left out for long. */
const GOLDEN = 0.618_033_988_749;

/** Kind of answer that each zone returns for a name that does not exist. */
export const zones = {
  /** Seeded from a file at the start. */
  'seeded.test': AnswerKind.nxdomain,
  'learned.test': AnswerKind.nxdomain,
  /** A zone with a wildcard that the detector does not know. */
  'any.test': AnswerKind.records,
  /** Returns NODATA for names that do not exist (RFC 9824), as to clients that do not request DNSSEC. */
  'lies.test': AnswerKind.noData,
  /** The subtree of a wildcard in the seeded zone `app.test`, which is judged by rate from the start. */
  'wild.app.test': AnswerKind.records,
} as const;
export type ZoneName = keyof typeof zones;
export const zoneNames = Object.keys(zones) as ZoneName[];
/** Zones whose names the guard learns. */
export const zonesWithProfile: readonly ZoneName[] = zoneNames.filter((name) => name !== 'wild.app.test');

/** Rates of the attacker's queries in one zone, by class of name. */
export interface Flow {
  readonly zone: ZoneName;
  /** Queries per second for names that were never queried before. */
  readonly randomPerSecond: number;
  /** Queries per second for known names. */
  readonly knownPerSecond: number;
  /** Number of names that are queried twice each, from two networks; identical in each step. */
  readonly taughtNames: number;
}

export interface WorldOptions {
  readonly sensitivities?: Sensitivities;
  /** Queries per second that the servers answer. Beyond that, answers are missing. Default: all. */
  readonly capacityPerSecond?: number;
}

export class World {
  readonly detector: AttackDetector;
  nowMs = START;
  readonly #words: Int32Array;
  /** Questions by name, cached because hashing them is most of the work. */
  readonly #questions = new Map<string, Question>();
  #names = 0;
  /**
   * Highest rate that the servers answered, in queries per second; excludes the queries dropped in a zone under
   * attack.
   */
  highestRate = 0;
  readonly #rule: Rule;
  readonly #capacityPerSecond: number;
  #mode: Rule['mode'] = 'enabled';
  /** Share of the queries that the servers answer in the current step. */
  #answeredShare = 1;
  #lot = 0;

  constructor({ sensitivities = LOW, capacityPerSecond = Number.POSITIVE_INFINITY }: WorldOptions = {}) {
    this.detector = new AttackDetector(KEY, { profile: { maxNames: MAX_NAMES } }, START);
    this.#words = new Int32Array(this.detector.sharedState.zones);
    this.#rule = { ...RULE, ...sensitivities };
    this.#capacityPerSecond = capacityPerSecond;
    const users = Array.from({ length: USERS_NAMES }, (_, n) => `h${n}.seeded.test`);
    this.#seed('seeded.test', users);
    this.#seed('app.test', ['app.test', '*.wild.app.test']);
    for (const name of zoneNames) this.detector.zones.add(name);
    this.setMode('enabled');
  }

  /** Sets the mode of the rule. The other settings stay as they are. */
  setMode(mode: Rule['mode']): void {
    this.#mode = mode;
    this.detector.setRule({ ...this.#rule, mode }, this.nowMs);
  }

  /** Simulates days in which only users send queries. */
  quietDays(days: number): void {
    for (let minute = 0; minute < days * DAY_MINUTES; minute += 10) this.minutes(10, []);
  }

  /**
   * Advances the clock by one step, in which users and these flows send queries. Short steps are closest to the ticks
   * of a real detector.
   */
  minutes(minutes: number, flows: readonly Flow[]): void {
    const seconds = minutes * SECONDS;
    this.nowMs += minutes * MINUTE_MS;
    const users = zoneNames.length * (USERS_PER_SECOND + TYPOS_PER_SECOND);
    const carried = flows.reduce(
      (sum, { zone, randomPerSecond, knownPerSecond }) =>
        sum + (this.#limits(zone) ? knownPerSecond : knownPerSecond + randomPerSecond),
      users,
    );
    this.#answeredShare = Math.min(1, this.#capacityPerSecond / carried);
    for (const zone of zoneNames) this.#users(zone, seconds);
    for (const flow of flows) this.#attack(flow, seconds);
    this.detector.setUpstreamsHealthy(this.#answeredShare >= HEALTHY_SHARE, this.nowMs);
    this.detector.tick(this.nowMs);
    this.highestRate = Math.max(this.highestRate, Math.min(this.#capacityPerSecond, carried));
  }

  /** Returns how many names of users in this zone are not known. */
  missing(zone: ZoneName): number {
    let missing = 0;
    for (let n = 0; n < USERS_NAMES; n++) if (!this.#isKnown(`h${n}.${zone}`)) missing++;
    return missing;
  }

  /**
   * Simulates a flood of random names and users query by query, and returns how many of each passed in the last
   * second. Queries that pass are answered.
   */
  flood(zone: ZoneName, perSecond: number, seconds: number): { random: number; users: number } {
    const { detector } = this;
    let passed = { random: 0, users: 0 };
    for (let second = 0; second < seconds; second++) {
      passed = { random: 0, users: 0 };
      let answered = 0;
      for (let i = 0; i < perSecond + USERS_PER_SECOND; i++) {
        const isUser = i % Math.ceil((perSecond + USERS_PER_SECOND) / USERS_PER_SECOND) === 0;
        const name = isUser ? `h${(second * 41 + i) % USERS_NAMES}.${zone}` : `r${this.#names++}.${zone}`;
        const asked = questionOf(name, QueryType.A, KEY);
        const atMs = this.nowMs + (i * SECOND_MS) / (perSecond + USERS_PER_SECOND);
        if (outcomeOf(detector.decide(asked, atMs)) === 'dropped') continue;
        passed[isUser ? 'users' : 'random']++;
        const kind = isUser ? AnswerKind.records : zones[zone];
        if (answered++ < this.#capacityPerSecond) detector.learn(asked, { kind, network: i }, atMs);
      }
      this.nowMs += SECOND_MS;
      detector.setUpstreamsHealthy(answered * HEALTHY_SHARE <= this.#capacityPerSecond, this.nowMs);
      detector.tick(this.nowMs);
    }
    return passed;
  }

  #users(zone: ZoneName, seconds: number): void {
    const { detector } = this;
    const known = USERS_NAMES - this.missing(zone);
    const unknownShare = 1 - known / USERS_NAMES;
    const unknown = Math.round(seconds * (TYPOS_PER_SECOND + USERS_PER_SECOND * unknownShare));
    this.#count(zone, seconds * (USERS_PER_SECOND + TYPOS_PER_SECOND), unknown);
    this.#answer(zone, zones[zone], seconds * TYPOS_PER_SECOND);
    // Each name is queried several times a day, from two networks.
    for (let n = 0; n < USERS_NAMES; n++)
      if ((n + Math.floor(this.nowMs / MINUTE_MS)) % 60 < Math.max(1, seconds / SECONDS))
        for (const network of [n, n + 1])
          if (this.#isAnswered())
            detector.learn(
              this.#question(`h${n}.${zone}`),
              { kind: AnswerKind.records, network },
              this.nowMs,
            );
  }

  #attack({ zone, randomPerSecond, knownPerSecond, taughtNames }: Flow, seconds: number): void {
    const { detector } = this;
    const random = randomPerSecond * seconds;
    this.#count(zone, random + knownPerSecond * seconds, random);
    // While a zone is under attack, only as many unknown names as the bucket has tokens are answered.
    const rate = this.#limits(zone)
      ? Math.min(randomPerSecond, detector.bucketSize().ratePerSecond)
      : randomPerSecond;
    this.#answer(zone, zones[zone], rate * seconds);
    for (let n = 0; n < taughtNames; n++)
      for (const network of [1, 2])
        if (this.#isAnswered())
          detector.learn(this.#question(`p${n}.${zone}`), { kind: zones[zone], network }, this.nowMs);
  }

  #count(zone: ZoneName, queries: number, unknown: number): void {
    const at = (this.detector.zones.get(zone)?.number ?? 0) * (ZONE_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#words[at] = (this.#words[at] ?? 0) + Math.round(queries);
    this.#words[at + 1] = (this.#words[at + 1] ?? 0) + Math.round(unknown);
  }

  /** Counts answers for unknown names that are queried only once. */
  #answer(name: ZoneName, kind: number, sent: number): void {
    const zone = this.detector.zones.get(name);
    if (zone === undefined) return;
    const answers = sent * this.#answeredShare;
    // The first answers teach the zone how it denies names; the others only count.
    const each = Math.min(20, Math.ceil(answers));
    for (let n = 0; n < each; n++) {
      zone.noteAnswer(kind, false, zone.attacked(this.nowMs));
      if (zone.proves(kind, false)) zone.notePositive(true);
    }
    const rest = Math.max(0, answers - each);
    zone.answers += rest;
    zone.unknownAnswers += kind === AnswerKind.noData && zone.denials.noDataProves ? 0 : rest;
    if (kind === AnswerKind.nxdomain) zone.nxdomains += rest;
    if (kind === AnswerKind.records) zone.unknownPositives += rest;
  }

  /** Whether the guard drops random names in this zone. */
  #limits(zone: ZoneName): boolean {
    return this.#mode === 'enabled' && this.detector.zones.get(zone)?.attacked(this.nowMs) === true;
  }

  /** Whether the servers answer the next query. */
  #isAnswered(): boolean {
    this.#lot = (this.#lot + GOLDEN) % 1;
    return this.#lot < this.#answeredShare;
  }

  #seed(zone: string, owners: readonly string[]): void {
    const seed = new ZoneSeed({ zone }, { detector: this.detector });
    for (const owner of owners) seed.add(nameToWire(owner), 'A');
    seed.finish();
  }

  #isKnown(name: string): boolean {
    const { hashHigh, hashLow } = this.#question(name);
    return this.detector.profile.find(hashHigh, hashLow) >= 0;
  }

  #question(name: string): Question {
    const question = this.#questions.get(name) ?? questionOf(name, QueryType.A, KEY);
    this.#questions.set(name, question);
    return question;
  }
}
