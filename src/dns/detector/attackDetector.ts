/**
 * The detector: decides about every query, learns from every answer, looks after its zones every second.
 * It knows no socket and no clock. The rules it follows, with all numbers, are in docs/dns-protection.md.
 */
import type { Rule } from '../../rules/index.ts';
import type { HashKey, Question } from '../protocol/index.ts';
import { type AccessLists, NO_LISTS } from './clients/accessLists.ts';
import { CLIENT_WINDOW_MS } from './clients/heavyClients.ts';
import { type AnswerSink, type AskedName, learnAnswer } from './learnAnswer.ts';
import { DEFAULT_MAX_NAMES, Profile, type ProfileOptions } from './profile/profile.ts';
import type { Learned } from './profileStore.ts';
import { QueryPolicy } from './queryPolicy.ts';
import { DEFAULT_MULTIPLIERS, type Multipliers, profileLevel } from './sensitivity.ts';
import { newSharedState, type SharedState } from './sharedState.ts';
import { type TcpClient, TcpPolicy } from './tcpPolicy.ts';
import { BURST_FACTOR, FLOOR_PER_SECOND, RateHistory, type Threshold } from './thresholds.ts';
import { type Reason, VERDICTS, type Verdict } from './verdict.ts';
import type { Zone } from './zones/zone.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';
import { ZoneTree } from './zones/zoneTree.ts';

export interface DetectorOptions {
  readonly profile: Partial<ProfileOptions>;
  readonly multipliers: Multipliers;
  /** What a query gets that finds the bucket empty: nothing, or an answer with TC=1 that sends honest clients to TCP. */
  readonly refuseWith: 'drop' | 'truncate';
  /** Attack-free minutes that must have been watched before an unseeded guard drops anything. */
  readonly learnForMinutes: number;
}

const DEFAULT_DETECTOR_OPTIONS: DetectorOptions = {
  profile: {},
  multipliers: DEFAULT_MULTIPLIERS,
  refuseWith: 'drop',
  // The original asks for four hours of monitoring before a rule is enabled.
  learnForMinutes: 240,
};

const RCODE_NOERROR = 0;
const RCODE_NXDOMAIN = 3;
const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1000;
/** Longer than any restart; a zone that nobody kept in step for longer may have other names by now. */
const NAMES_HOLD_MS = 24 * 3_600_000;

export class AttackDetector implements AnswerSink {
  readonly options: DetectorOptions;
  readonly key: HashKey;
  readonly profile: Profile;
  readonly zones: ZoneTree;
  readonly history: RateHistory;
  /** What other threads need to decide as this detector does. */
  readonly sharedState: SharedState;
  readonly #policy: QueryPolicy;
  readonly #tcpPolicy: TcpPolicy;
  readonly #verdicts = new Float64Array(VERDICTS);
  readonly #newVerdicts: Int32Array;
  #rule: Rule | undefined;
  #accessLists: AccessLists = NO_LISTS;
  #attack = false;
  #ready = false;
  #restoredLately = false;

  constructor(key: HashKey, options: Partial<DetectorOptions> = {}, nowMs = 0) {
    this.options = { ...DEFAULT_DETECTOR_OPTIONS, ...options };
    this.key = key;
    this.sharedState = newSharedState(this.options.profile.maxNames ?? DEFAULT_MAX_NAMES);
    this.#policy = new QueryPolicy(key, this.sharedState, (zone, atMs) => this.alarm(zone, atMs));
    this.#tcpPolicy = new TcpPolicy(this.#policy, this.sharedState, (zone, atMs) => this.alarm(zone, atMs));
    this.#newVerdicts = new Int32Array(this.sharedState.verdicts);
    this.#policy.flags.refuseWith = this.options.refuseWith;
    this.profile = new Profile(this.options.profile, this.#policy.names);
    this.zones = new ZoneTree(key, this.#policy.zoneIndex, (number) => this.#policy.zone(number));
    this.history = new RateHistory(this.profile.options.windowMs);
    this.tick(nowMs);
  }

  /** How often each verdict was given since the start, by its number: in this thread and in all others that share the state. */
  get verdicts(): Float64Array {
    for (let verdict = 0; verdict < VERDICTS; verdict++)
      this.#verdicts[verdict] =
        (this.#verdicts[verdict] ?? 0) + Atomics.exchange(this.#newVerdicts, verdict, 0);
    return this.#verdicts;
  }

  get rule(): Rule | undefined {
    return this.#rule;
  }

  /** The rule in force from now on; undefined for none, and then everything passes. */
  setRule(rule: Rule | undefined, nowMs: number): void {
    this.#rule = rule;
    this.#updateFlags();
    this.#resize(nowMs);
  }

  /** What is allowed or denied whatever the rule is, from now on. Throws `RangeError` where it is too much. */
  setAccessLists(lists: AccessLists): void {
    this.#policy.accessLists.write(lists, this.key);
    this.#accessLists = lists;
  }

  get accessLists(): AccessLists {
    return this.#accessLists;
  }

  /** Queries a second over UDP that one client may ask; 0 where there is no limit. */
  get clientRatePerSecond(): number {
    return (this.#policy.flags.clientLimit * MS_PER_SECOND) / CLIENT_WINDOW_MS;
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
    return this.#policy.flags.bucket.level(nowMs);
  }

  /** Decides about a query that came over UDP from this address, where it is known, and counts it. */
  decide(question: Question, nowMs: number, client?: string): Verdict {
    return this.#policy.decide(question, nowMs, client);
  }

  /** Decides about a query that came over TCP. Its verdict is not among {@link verdicts}: whoever asks counts it. */
  decideOverTcp(question: Question, client: TcpClient, nowMs: number): Verdict {
    return this.#tcpPolicy.decide(question, client, nowMs);
  }

  /** Looks at a zone, by its number, before the second is over. */
  alarm(number: number, nowMs: number): void {
    const zone = this.zones.byNumber(number);
    zone.alarm(nowMs);
    if (zone.attacked(nowMs)) this.#noteAttack(true);
  }

  /** Why this query would have to pay under the rule in force, `none` when it would not. Changes nothing. */
  reasonToPay(question: Question, zone: Zone, place: number, beyondUsual: boolean, nowMs: number): Reason {
    return this.#policy.reasonToPay(question, zone.shared, place, beyondUsual, nowMs);
  }

  /**
   * Learns from an answer, whose question was read from it: the name, and the zone that a negative answer names.
   * `client` is the address of whoever asked.
   */
  learnAnswer(answer: Uint8Array, question: Question, client: string, nowMs: number): void {
    learnAnswer(this, answer, question, client, nowMs);
  }

  get zoneIndex(): ZoneIndex {
    return this.#policy.zoneIndex;
  }

  addZone(wire: Uint8Array): void {
    this.zones.addWire(wire);
  }

  /** Learns that a question was answered: `rcode` as the server gave it, `network` the hash of the asking network. */
  learn(question: Question, rcode: number, network: number, nowMs: number): void {
    this.learnIn(this.zoneIndex.find(question), question, rcode, network, nowMs);
  }

  /** As {@link learn}, where the number of the question's zone is known already. */
  learnIn(number: number, question: AskedName, rcode: number, network: number, nowMs: number): void {
    const zone = this.zones.byNumber(number);
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
    let queries = 0;
    for (const zone of this.zones.all()) {
      queries += zone.tick(nowMs, learning);
      attack ||= zone.attacked(nowMs);
    }
    this.#noteAttack(attack);
    this.history.add(queries, attack || !learning, nowMs);
    this.#ready ||= this.history.minutes >= this.options.learnForMinutes;
    this.#updateFlags();
    this.#resize(nowMs);
    this.profile.sweep(nowMs);
  }

  /**
   * Says that a zone's names will be put into the profile. What an earlier run knew of them holds meanwhile; where none did,
   * no name of the zone counts as unknown until they are all there, or the zone was watched as long as a guard without zones.
   */
  expectSeed(name: string): void {
    const zone = this.zones.add(name);
    if (zone === undefined) return;
    for (const other of this.zones.all())
      if (zone !== this.zones.outside && other.before.boundlessBy === zone.name) {
        other.boundless = true;
        other.boundlessBy = zone.name;
      }
    if (zone.before.seeded === true && this.#restoredLately) this.noteSeeded(zone);
    else zone.awaitNames(this.options.learnForMinutes * SECONDS_PER_MINUTE);
  }

  /** Says that a zone's names were all put into the profile. */
  noteSeeded(zone: Zone): void {
    zone.noteSeeded();
    this.#ready = true;
    this.#updateFlags();
  }

  /** What was learned besides the profile, to be stored with it. */
  learned(nowMs: number): Learned {
    return {
      savedMs: nowMs,
      hashKey: this.key,
      rates: this.history.samples(),
      zones: this.zones.all().map((zone) => ({ ...zone.learned(), attacked: zone.attacked(nowMs) })),
    };
  }

  /** Puts back what was learned before a restart, under the same hash key. */
  restore(learned: Learned, nowMs: number): void {
    this.#restoredLately = nowMs - (learned.savedMs ?? Number.NEGATIVE_INFINITY) <= NAMES_HOLD_MS;
    this.history.restore(learned.rates);
    for (const stored of learned.zones) {
      const zone = stored.name === '' ? this.zones.outside : this.zones.add(stored.name);
      zone?.restore(stored);
    }
    // The thresholds first: none are computed during an attack.
    this.tick(nowMs);
    for (const { name, attacked } of learned.zones)
      if (attacked === true && this.#restoredLately)
        (name === '' ? this.zones.outside : this.zones.get(name))?.attack(nowMs);
    this.tick(nowMs);
  }

  /** Whether a query that must pay and cannot would be lost. */
  mayDrop(zone: Zone, nowMs: number): boolean {
    return this.#policy.mayDrop(zone.shared, nowMs);
  }

  #noteAttack(attack: boolean): void {
    this.#attack = attack;
    this.#policy.flags.attack = attack;
  }

  #updateFlags(): void {
    const { flags } = this.#policy;
    const rule = this.#rule;
    flags.level = profileLevel[rule?.profile_sensitivity ?? 'low'];
    flags.mode = rule === undefined || rule.mode === 'disabled' ? 'none' : rule.mode;
    flags.mayDrop = !this.#ready ? 'never' : this.history.founded ? 'always' : 'underAttack';
  }

  /** At sensitivity `low` only names are judged. */
  get #limitsClients(): boolean {
    const { mode, level } = this.#policy.flags;
    return mode !== 'none' && level > profileLevel.low;
  }

  #resize(nowMs: number): void {
    const { ratePerSecond, burst } = this.bucketSize();
    this.#policy.flags.bucket.resize(ratePerSecond, burst, nowMs);
    this.#policy.flags.clientLimit = this.#limitsClients
      ? Math.ceil((ratePerSecond * CLIENT_WINDOW_MS) / MS_PER_SECOND)
      : 0;
    const { multipliers } = this.options;
    const rateFactor = multipliers[this.#rule?.rate_sensitivity ?? 'medium'];
    const burstFactor = multipliers[this.#rule?.burst_sensitivity ?? 'medium'];
    for (const zone of this.zones.all()) {
      const rate = Math.max(FLOOR_PER_SECOND, zone.ratePerSecond);
      zone.bucket.resize(rate * rateFactor, rate * BURST_FACTOR * burstFactor, nowMs);
    }
  }
}
