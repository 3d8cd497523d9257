/**
 * The judge: decides about every query, learns from every answer, looks after its zones every second.
 * It knows no socket and no clock. The rules it follows, with all numbers, are in ../../docs/dns-protection.md.
 */
import type { Rule } from '../rules/index.ts';
import type { HashKey } from './nameHash.ts';
import type { Learned } from './ports.ts';
import { Profile, type ProfileOptions } from './profile/profile.ts';
import { RecentNames } from './recentNames.ts';
import { DEFAULT_MULTIPLIERS, type Multipliers, profileLevel } from './sensitivity.ts';
import { BURST_FACTOR, FLOOR_PER_SECOND, RateHistory, type Threshold } from './thresholds.ts';
import { TokenBucket } from './tokenBucket.ts';
import { type Reason, VERDICTS, type Verdict, verdictOf } from './verdict.ts';
import type { Question } from './wire/question.ts';
import type { Zone } from './zones/zone.ts';
import { ZoneTree } from './zones/zoneTree.ts';

export interface JudgeOptions {
  readonly profile: Partial<ProfileOptions>;
  readonly multipliers: Multipliers;
  /** What a query gets that finds the bucket empty: nothing, or an answer with TC=1 that sends honest clients to TCP. */
  readonly refuseWith: 'drop' | 'truncate';
  /** Attack-free minutes that must have been watched before an unseeded guard drops anything. */
  readonly learnForMinutes: number;
}

export const DEFAULT_JUDGE_OPTIONS: JudgeOptions = {
  profile: {},
  multipliers: DEFAULT_MULTIPLIERS,
  refuseWith: 'drop',
  // The original asks for four hours of monitoring before a rule is enabled.
  learnForMinutes: 240,
};

/** The last fifth of a bucket is kept for names that are asked for again: new names get in, random ones do not. */
const RESERVED_SHARE = 0.2;
const RCODE_NOERROR = 0;
const RCODE_NXDOMAIN = 3;

const PASSED = verdictOf('passed', 'none');
type Paying = Exclude<Reason, 'none'>;
const PAID = perReason('paid');
const WOULD_DROP = perReason('wouldDrop');
const REFUSED = { drop: perReason('dropped'), truncate: perReason('truncated') } as const;

export class Judge {
  readonly options: JudgeOptions;
  readonly key: HashKey;
  readonly profile: Profile;
  readonly zones: ZoneTree;
  readonly history: RateHistory;
  /** How often each verdict was given since the start, by its number. */
  readonly verdicts = new Float64Array(VERDICTS);
  #rule: Rule | undefined;
  readonly #bucket: TokenBucket;
  readonly #recent = new RecentNames();
  #queriesThisSecond = 0;
  #attack = false;
  #ready = false;

  constructor(key: HashKey, options: Partial<JudgeOptions> = {}, nowMs = 0) {
    this.options = { ...DEFAULT_JUDGE_OPTIONS, ...options };
    this.key = key;
    this.profile = new Profile(this.options.profile);
    this.zones = new ZoneTree(key);
    this.history = new RateHistory(this.profile.options.windowMs);
    const { ratePerSecond, burst } = this.bucketSize();
    this.#bucket = new TokenBucket(ratePerSecond, burst);
    this.tick(nowMs);
  }

  get rule(): Rule | undefined {
    return this.#rule;
  }

  /** The rule in force from now on; undefined for none, and then everything passes. */
  setRule(rule: Rule | undefined, nowMs: number): void {
    this.#rule = rule;
    this.#resize(nowMs);
  }

  /** Whether some zone was under attack at the last tick or since. Nothing is learned then. */
  get attack(): boolean {
    return this.#attack;
  }

  /** Whether enough is known to drop: a zone was seeded, or traffic watched for `learnForMinutes`. */
  get ready(): boolean {
    return this.#ready;
  }

  /** The bucket that the thresholds and the rule's sensitivities make. */
  bucketSize(): Threshold {
    const { ratePerSecond, burst } = this.history.threshold;
    const { multipliers } = this.options;
    return {
      ratePerSecond: ratePerSecond * multipliers[this.#rule?.rate_sensitivity ?? 'medium'],
      burst: burst * multipliers[this.#rule?.burst_sensitivity ?? 'medium'],
    };
  }

  /** Tokens in the bucket. */
  tokens(nowMs: number): number {
    return this.#bucket.level(nowMs);
  }

  /** Decides about a query that came over UDP, and counts it. */
  decide(question: Question, nowMs: number): Verdict {
    const zone = this.zones.find(question);
    const place = this.profile.find(question.hashHigh, question.hashLow);
    zone.queries++;
    this.#queriesThisSecond++;
    const beyondUsual = place >= 0 && this.profile.noteQuery(place, nowMs, !this.#attack);
    if (place < 0 && ++zone.unknown >= zone.alarmAt) this.#alarm(zone, nowMs);
    const verdict = this.#judge(question, zone, place, beyondUsual, nowMs);
    this.verdicts[verdict] = (this.verdicts[verdict] ?? 0) + 1;
    return verdict;
  }

  /** Why this query would have to pay under the rule in force, `none` when it would not. Changes nothing. */
  reasonToPay(question: Question, zone: Zone, place: number, beyondUsual: boolean, nowMs: number): Reason {
    if (this.#rule === undefined || this.#rule.mode === 'disabled') return 'none';
    const level = profileLevel[this.#rule.profile_sensitivity];
    if (place < 0) {
      if (zone.byRate) return 'zoneRate';
      return level > profileLevel.low || zone.attacked(nowMs) ? 'unknownName' : 'none';
    }
    if (level >= profileLevel.high && !this.profile.hasType(place, question.type)) return 'unknownType';
    return level >= profileLevel.very_high && beyondUsual ? 'aboveUsual' : 'none';
  }

  /** Learns from the answer to a question: `rcode` as the server gave it, `network` the hash of the asking network. */
  learn(question: Question, rcode: number, network: number, nowMs: number): void {
    const zone = this.zones.find(question);
    const known = this.profile.find(question.hashHigh, question.hashLow) >= 0;
    zone.answers++;
    if (!known) zone.unknownAnswers++;
    if (rcode === RCODE_NXDOMAIN) zone.nxdomains++;
    if (rcode !== RCODE_NOERROR) return;
    if (!known) zone.unknownPositives++;
    // What any name would have been answered teaches nothing; neither does anything while an attack is on.
    if (this.#attack || zone.boundless) return;
    const seen = this.profile.learn(question.hashHigh, question.hashLow, question.type, network, nowMs);
    zone.notePositive(!known && seen === 'first');
  }

  /** Looks after zones, thresholds and ageing; call it every second. */
  tick(nowMs: number): void {
    const learning = !this.#attack;
    let attack = false;
    for (const zone of this.zones.all()) {
      zone.tick(nowMs, learning);
      attack ||= zone.attacked(nowMs);
    }
    this.#attack = attack;
    this.history.add(this.#queriesThisSecond, attack || !learning, nowMs);
    this.#queriesThisSecond = 0;
    this.#ready ||= this.history.minutes >= this.options.learnForMinutes;
    this.#resize(nowMs);
    this.profile.sweep(nowMs);
  }

  /** Says that a zone's names were all put into the profile. */
  noteSeeded(zone: Zone): void {
    zone.seeded = true;
    this.#ready = true;
  }

  /** What was learned besides the profile, to be stored with it. */
  learned(): Learned {
    return {
      hashKey: this.key,
      rates: this.history.samples(),
      zones: this.zones.all().map((zone) => zone.learned()),
    };
  }

  /** Puts back what was learned before a restart, under the same hash key. */
  restore(learned: Learned, nowMs: number): void {
    this.history.restore(learned.rates);
    for (const stored of learned.zones) {
      const zone = stored.name === '' ? this.zones.outside : this.zones.add(stored.name);
      zone?.restore(stored);
    }
    this.tick(nowMs);
  }

  #judge(question: Question, zone: Zone, place: number, beyondUsual: boolean, nowMs: number): Verdict {
    const reason = this.reasonToPay(question, zone, place, beyondUsual, nowMs);
    if (reason === 'none') return PASSED;
    if (this.#pay(question, zone, reason, nowMs)) return PAID[reason];
    if (reason === 'zoneRate') zone.refusedByRate++;
    if (!this.mayDrop(zone, nowMs)) return WOULD_DROP[reason];
    return REFUSED[this.options.refuseWith][reason];
  }

  /** Before there is a threshold that rests on traffic, only a zone under attack loses anything. */
  mayDrop(zone: Zone, nowMs: number): boolean {
    if (this.#rule?.mode !== 'enabled' || !this.#ready) return false;
    return this.history.founded || zone.attacked(nowMs);
  }

  #pay(question: Question, zone: Zone, reason: Paying, nowMs: number): boolean {
    if (reason === 'zoneRate') return zone.bucket.take(nowMs);
    const again = reason !== 'unknownName' || this.#recent.note(question.hashHigh, question.hashLow);
    return this.#bucket.take(nowMs, again ? 0 : this.#bucket.burst * RESERVED_SHARE);
  }

  #alarm(zone: Zone, nowMs: number): void {
    zone.alarm(nowMs);
    this.#attack ||= zone.attacked(nowMs);
  }

  #resize(nowMs: number): void {
    const { ratePerSecond, burst } = this.bucketSize();
    this.#bucket.resize(ratePerSecond, burst, nowMs);
    const { multipliers } = this.options;
    const rateFactor = multipliers[this.#rule?.rate_sensitivity ?? 'medium'];
    const burstFactor = multipliers[this.#rule?.burst_sensitivity ?? 'medium'];
    for (const zone of this.zones.all()) {
      const rate = Math.max(FLOOR_PER_SECOND, zone.ratePerSecond);
      zone.bucket.resize(rate * rateFactor, rate * BURST_FACTOR * burstFactor, nowMs);
    }
  }
}

function perReason(outcome: 'paid' | 'wouldDrop' | 'dropped' | 'truncated'): Record<Paying, Verdict> {
  return {
    unknownName: verdictOf(outcome, 'unknownName'),
    unknownType: verdictOf(outcome, 'unknownType'),
    aboveUsual: verdictOf(outcome, 'aboveUsual'),
    zoneRate: verdictOf(outcome, 'zoneRate'),
  };
}
