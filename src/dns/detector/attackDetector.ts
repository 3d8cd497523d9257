/**
 * The detector: decides about every query, learns from every answer, looks after its zones every second.
 * It knows no socket and no clock. The rules it follows, with all numbers, are in docs/dns-protection.md.
 */
import type { Rule } from '../../rules/index.ts';
import type { HashKey, Question } from '../protocol/index.ts';
import { type AccessLists, NO_LISTS } from './clients/accessLists.ts';
import { CLIENT_WINDOW_MS, clientLimit } from './clients/heavyClients.ts';
import type { KnownClients } from './clients/knownClients.ts';
import type { RecordedDecisions } from './decisionSamples.ts';
import { type AnswerSink, type AskedName, learnAnswer } from './learnAnswer.ts';
import { entryOfOldForm } from './profile/oldForm.ts';
import { DEFAULT_MAX_NAMES, Profile, type ProfileEntry, type ProfileOptions } from './profile/profile.ts';
import type { Learned } from './profileStore.ts';
import { QueryPolicy } from './queryPolicy.ts';
import { DEFAULT_MULTIPLIERS, type Multipliers, profileLevel } from './sensitivity.ts';
import { newSharedState, type SharedState } from './sharedState.ts';
import { type TcpClient, TcpPolicy } from './tcpPolicy.ts';
import { BURST_FACTOR, FLOOR_PER_SECOND, RateHistory, type Threshold } from './thresholds.ts';
import { type Reason, VERDICTS, type Verdict } from './verdict.ts';
import type { ZoneLimits } from './zones/alarms.ts';
import type { Zone } from './zones/zone.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';
import { ZoneTree } from './zones/zoneTree.ts';
import { DEFAULT_THRESHOLDS, type Thresholds } from './zoneThresholds.ts';

export interface DetectorOptions {
  readonly profile: Partial<ProfileOptions>;
  readonly multipliers: Multipliers;
  /** What a query gets that finds the bucket empty: nothing, or an answer with TC=1 that sends honest clients to TCP. */
  readonly refuseWith: 'drop' | 'truncate';
  /** Attack-free minutes that must have been watched before an unseeded guard drops anything. */
  readonly learnForMinutes: number;
  /** What is set by hand, and what no learning moves. */
  readonly thresholds: Thresholds;
}

const DEFAULT_DETECTOR_OPTIONS: DetectorOptions = {
  profile: {},
  multipliers: DEFAULT_MULTIPLIERS,
  refuseWith: 'drop',
  // The original asks for four hours of monitoring before a rule is enabled.
  learnForMinutes: 240,
  thresholds: DEFAULT_THRESHOLDS,
};

/** A guard that is attacked all the time is ready after this, too: the names that are needed have shown it by then. */
const READY_UNDER_ATTACK_MINUTES = 3 * 1440;
const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1000;
/** Longer than any restart; a zone that nobody kept in step for longer may have other names by now. */
const NAMES_HOLD_MS = 24 * 3_600_000;

/** What of a rule the bucket's size hangs on. */
type BucketSensitivities = Pick<Rule, 'rate_sensitivity' | 'burst_sensitivity'>;

const TOLERANT: BucketSensitivities = { rate_sensitivity: 'low', burst_sensitivity: 'low' };

interface AnsweredTo {
  readonly kind: number;
  readonly network: number;
}

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
  /** Zones of which all names are in the profile, or are expected. */
  readonly #seededZones = new Set<Zone>();
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
    this.zones = new ZoneTree(key, {
      index: this.#policy.zoneIndex,
      sharedOf: (number) => this.#policy.zone(number),
      limitsOf: (name) => this.#limitsOf(name),
    });
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

  /** Whether there was an attack to tell of in some zone at the last tick or since. */
  get attack(): boolean {
    return this.#attack;
  }

  /** Whether what is refused is sampled now; the same for every thread. */
  get samplesRefusals(): boolean {
    return this.#policy.samplesRefusals;
  }

  /** Whether enough is known to drop: a zone was seeded, or traffic watched for `learnForMinutes`. */
  get ready(): boolean {
    return this.#ready;
  }

  /** The bucket that the thresholds make with the sensitivities of the rule in force, or with others. */
  bucketSize(rule: BucketSensitivities | undefined = this.#rule): Threshold {
    const { multipliers, thresholds } = this.options;
    const learned = this.history.threshold;
    const ratePerSecond = thresholds.ratePerSecond ?? learned.ratePerSecond;
    const burst = thresholds.burst ?? (thresholds.ratePerSecond ?? learned.ratePerSecond) * BURST_FACTOR;
    return {
      ratePerSecond: ratePerSecond * multipliers[rule?.rate_sensitivity ?? 'medium'],
      burst: burst * multipliers[rule?.burst_sensitivity ?? 'medium'],
    };
  }

  /** The same of the bucket of a zone that is judged by rate. */
  zoneBucketSize(
    { limits: { byHand }, usual }: Zone,
    rule: BucketSensitivities | undefined = this.#rule,
  ): Threshold {
    const { multipliers } = this.options;
    const rate = byHand.ratePerSecond ?? Math.max(FLOOR_PER_SECOND, usual.ratePerSecond);
    const burst = byHand.burst ?? rate * BURST_FACTOR;
    return {
      ratePerSecond: rate * multipliers[rule?.rate_sensitivity ?? 'medium'],
      burst: burst * multipliers[rule?.burst_sensitivity ?? 'medium'],
    };
  }

  /** What was decided about over UDP in the time before, in any thread, as far as it was recorded. */
  decisions(nowMs: number, spanMs: number): RecordedDecisions {
    return this.#policy.decisions.read(nowMs, spanMs);
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
    if (zone.attacked(nowMs)) this.#setAttack(true);
  }

  /** Why a query within the name's usual rate would have to pay, `none` when it would not. Changes nothing. */
  reasonToPay(question: Question, zone: Zone, nowMs: number): Reason {
    const place = this.profile.find(question.hashHigh, question.hashLow);
    return this.#policy.reasonToPay(question, zone.shared, place, false, nowMs);
  }

  /**
   * Learns from an answer, whose question was read from it: the name, and the zone that a negative answer names.
   * `client` is the address of whoever asked; `isProven` where it cannot be forged, as over TCP.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  learnAnswer(answer: Uint8Array, question: Question, client: string, nowMs: number, isProven = false): void {
    learnAnswer(this, answer, question, client, nowMs, isProven);
  }

  /** Who has asked for known names long before now. */
  get clients(): KnownClients {
    return this.#policy.knownClients;
  }

  get zoneIndex(): ZoneIndex {
    return this.#policy.zoneIndex;
  }

  addZone(wire: Uint8Array): void {
    this.zones.addWire(wire);
  }

  /** Learns that a question was answered: how (`AnswerKind`), and `network` the hash of the asking network. */
  learn(question: Question, { kind, network }: AnsweredTo, nowMs: number): void {
    this.learnIn(this.zoneIndex.find(question), question, kind, network, nowMs);
  }

  /** As {@link learn}, where the number of the question's zone is known already. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  learnIn(
    number: number,
    asked: AskedName,
    kind: number,
    network: number,
    nowMs: number,
    isProven = false,
  ): void {
    const zone = this.zones.byNumber(number);
    const { profile } = this;
    const place = profile.find(asked.hashHigh, asked.hashLow);
    const known = place >= 0;
    const attacked = zone.attacked(nowMs);
    if (zone.noticed(nowMs)) zone.attackCounts.noteAnswer(kind, known);
    if (!zone.noteAnswer(kind, known, attacked)) return;
    if (known) this.clients.note(network, nowMs);
    // What is known stays so, whatever else is not learned now.
    const isOld = known && profile.touch(place, asked.type, nowMs, number, isProven);
    // What any name would have been answered teaches nothing.
    if (zone.boundless) return;
    if (attacked) {
      if (!isOld) profile.keep(asked, nowMs, number);
    } else if (isOld) zone.notePositive(false);
    else {
      const seen = profile.learn(asked, network, nowMs, number, isProven);
      zone.notePositive(!known && seen === 'first');
    }
  }

  /** Looks after zones, thresholds and ageing; call it every second. */
  tick(nowMs: number): void {
    const zones = this.zones.all();
    let queries = 0;
    let unknown = 0;
    for (const zone of zones) {
      const ticked = zone.tick(nowMs);
      queries += ticked.usual;
      unknown += ticked.unknown;
    }
    if (unknown >= this.options.thresholds.accountUnknownPerSecond)
      for (const zone of zones) zone.attackWithOthers(nowMs);
    this.#setAttack(zones.some((zone) => zone.noticed(nowMs)));
    const attacked = zones.some((zone) => zone.attacked(nowMs));
    this.history.add(queries, attacked, nowMs);
    this.#ready ||=
      this.history.minutes >= this.options.learnForMinutes ||
      this.history.watchedMinutes >= READY_UNDER_ATTACK_MINUTES;
    this.#noteIncomplete();
    this.#updateFlags();
    this.#resize(nowMs);
    this.profile.sweep(nowMs, this.#seedHolds);
    this.clients.sweep(nowMs);
  }

  /**
   * Says that a zone's names will be put into the profile. What an earlier run knew of them holds meanwhile; where none did,
   * no name of the zone counts as unknown until they are all there, or the zone was watched as long as a guard without zones.
   */
  expectSeed(name: string): void {
    const zone = this.zones.add(name);
    if (zone === undefined) return;
    this.#seededZones.add(zone);
    this.profile.seededZones = this.#seededZones.size;
    for (const other of this.zones.all())
      if (zone !== this.zones.outside && other.before.boundlessBy === zone.name) {
        other.boundless = true;
        other.boundlessBy = zone.name;
      }
    if (zone.before.seeded === true && this.#restoredLately) this.noteSeeded(zone);
    else zone.awaitNames();
  }

  /** Says that a zone's names were all put into the profile. */
  noteSeeded(zone: Zone): void {
    this.#seededZones.add(zone);
    this.profile.seededZones = this.#seededZones.size;
    zone.noteSeeded();
    this.#noteIncomplete();
    this.#ready = true;
    this.#updateFlags();
  }

  /** What was learned besides the profile, to be stored with it. */
  learned(nowMs: number): Learned {
    return {
      savedMs: nowMs,
      form: 2,
      hashKey: this.key,
      rates: this.history.samples(),
      clients: this.clients.stored(nowMs),
      zones: this.zones.all().map((zone) => ({
        ...zone.learned(),
        attacked: zone.attacked(nowMs),
        days: this.profile.days.stored(zone.number),
      })),
    };
  }

  /**
   * Puts back what was learned before a restart, under the same hash key; before any zone is added, so that zones have the
   * numbers that they had.
   */
  restore(learned: Learned, nowMs: number): void {
    this.#restoredLately = nowMs - (learned.savedMs ?? Number.NEGATIVE_INFINITY) <= NAMES_HOLD_MS;
    this.history.restore(learned.rates);
    if (learned.clients !== undefined) this.clients.restore(learned.clients, nowMs);
    for (const stored of learned.zones) {
      const zone = stored.name === '' ? this.zones.outside : this.zones.add(stored.name);
      zone?.restore(stored);
      if (zone !== undefined && stored.days !== undefined)
        this.profile.days.restore(zone.number, stored.days);
    }
    // The thresholds first: none are computed during an attack.
    this.tick(nowMs);
    for (const { name, attacked } of learned.zones)
      if (attacked === true && this.#restoredLately)
        (name === '' ? this.zones.outside : this.zones.get(name))?.attack(nowMs, 'earlier_run');
    this.tick(nowMs);
  }

  /** Puts back stored names, in the form that they were stored in. */
  restoreNames(entries: Iterable<ProfileEntry>, { form, savedMs }: Learned, nowMs: number): void {
    for (const entry of entries)
      this.profile.restore(form === undefined ? entryOfOldForm(entry, savedMs ?? nowMs) : entry);
  }

  /** Whether a query that must pay and cannot would be lost. */
  mayDrop(zone: Zone, nowMs: number): boolean {
    return this.#policy.mayDrop(zone.shared, nowMs);
  }

  readonly #seedHolds = (number: number, generation: number): boolean =>
    this.zones.byNumber(number).seed.holds(generation);

  /** Zones of which not every name found room are judged by rate. */
  #noteIncomplete(): void {
    const { incompleteZones } = this.profile;
    for (const zone of this.#seededZones) zone.setIncomplete(zone.seeded && incompleteZones.has(zone.number));
  }

  #limitsOf(name: string): ZoneLimits {
    const { thresholds, learnForMinutes } = this.options;
    return {
      unknownPerSecond: thresholds.unknownPerSecond,
      byHand: thresholds.zones[name] ?? {},
      learnForSeconds: learnForMinutes * SECONDS_PER_MINUTE,
    };
  }

  #setAttack(attack: boolean): void {
    this.#attack = attack;
    this.#policy.flags.attack = attack;
  }

  #updateFlags(): void {
    const { flags } = this.#policy;
    const rule = this.#rule;
    flags.level = profileLevel[rule?.profile_sensitivity ?? 'low'];
    flags.mode = rule === undefined || rule.mode === 'disabled' ? 'none' : rule.mode;
    const isFounded = this.history.founded || this.options.thresholds.ratePerSecond !== undefined;
    flags.mayDrop = !this.#ready ? 'never' : isFounded ? 'always' : 'underAttack';
  }

  /** At sensitivity `low` only names are judged. */
  get #limitsClients(): boolean {
    const { mode, level } = this.#policy.flags;
    return mode !== 'none' && level > profileLevel.low;
  }

  #resize(nowMs: number): void {
    const { ratePerSecond, burst } = this.bucketSize();
    this.#policy.flags.bucket.resize(ratePerSecond, burst, nowMs);
    this.clients.resize({ ratePerSecond, burst }, this.bucketSize(TOLERANT), nowMs);
    this.#policy.flags.clientLimit = this.#limitsClients ? clientLimit(ratePerSecond) : 0;
    for (const zone of this.zones.all()) {
      const size = this.zoneBucketSize(zone);
      zone.bucket.resize(size.ratePerSecond, size.burst, nowMs);
    }
  }
}
