/**
 * Decides DNS queries, learns from answers, and checks every second which zones are under attack. Uses neither
 * sockets nor a clock. docs/reference/dns-attacks.md lists the criteria and all numbers.
 */
import type { Rule, ZonePolicy } from '../../rules/index.ts';
import { AnswerKind, type HashKey, type Question } from '../protocol/index.ts';
import type { ZoneSecond } from './assessment/assessedZone.ts';
import { type ZoneAssessment, ZoneAssessments } from './assessment/zoneAssessments.ts';
import { type Access, type AccessLists, NO_LISTS } from './clients/accessLists.ts';
import { CLIENT_WINDOW_MS, clientLimit } from './clients/heavyClients.ts';
import type { KnownClients } from './clients/knownClients.ts';
import type { RecordedDecisions } from './decisionSamples.ts';
import { type AnswerSink, type AskedName, learnAnswer } from './learnAnswer.ts';
import { DEFAULT_THRESHOLDS, type Thresholds } from './limits/accountThresholds.ts';
import {
  type AccountBuckets,
  accountBuckets,
  ceilingOf,
  mostFactor,
  type RuleSensitivities,
  raised,
  type ZoneBuckets,
  zoneBuckets,
} from './limits/bucketSizes.ts';
import { profileLevel } from './limits/sensitivity.ts';
import { RateHistory, type Threshold } from './limits/thresholds.ts';
import { DEFAULT_MAX_NAMES, Profile, type ProfileEntry, type ProfileOptions } from './profile/profile.ts';
import type { Learned } from './profileStore.ts';
import { QueryPolicy } from './queryPolicy.ts';
import { newSharedState, type SharedState } from './sharedState.ts';
import { TcpPolicy } from './tcpPolicy.ts';
import type { UserEnd } from './userEnd.ts';
import { type Reason, VERDICTS, type Verdict } from './verdict.ts';
import { Allowance } from './zones/allowance.ts';
import { PeakRate } from './zones/peakRate.ts';
import type { Zone } from './zones/zone.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';
import { ZonePolicies } from './zones/zonePolicies.ts';
import { ZoneTree } from './zones/zoneTree.ts';

export interface DetectorOptions {
  readonly profile: Partial<ProfileOptions>;
  /**
   * What happens to a query that gets no token. `drop`: it gets no answer. `truncate`: it is answered with TC=1, so
   * that genuine clients retry over TCP.
   */
  readonly limitAction: 'drop' | 'truncate';
  /** Number of minutes without an attack after which queries may be dropped. Ignored once a zone is seeded. */
  readonly learnForMinutes: number;
  /** Thresholds from the configuration. They override learned thresholds. */
  readonly thresholds: Thresholds;
}

const DEFAULT_DETECTOR_OPTIONS: DetectorOptions = {
  profile: {},
  limitAction: 'drop',
  // Cloudflare recommends four hours of monitoring before a rule is enabled.
  learnForMinutes: 240,
  thresholds: DEFAULT_THRESHOLDS,
};

/**
 * Number of minutes after which a guard under permanent attack may drop queries. Names with answers on three days are
 * known by then, because they are learned even during an attack (SlowCandidates).
 */
const READY_UNDER_ATTACK_MINUTES = 3 * 1440;
const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1000;
/**
 * Zones of a stored profile count as seeded or attacked only if the profile is not older than this. Since an older
 * profile was stored, the names in the zones may have changed.
 */
const MAX_SEED_AGE_MS = 24 * 3_600_000;

/**
 * After the servers did not answer in time, limits are not raised and no zone is free for this time. A flood could
 * otherwise overload the servers again as soon as they have recovered.
 */
const RELAXED_AFTER_MS = 600_000;
/** Maximum time between two ticks that counts as observed. In a longer interval, the machine may have slept. */
const MAX_TICK_SECONDS = 600;

const LOW_SENSITIVITY: RuleSensitivities = { rate_sensitivity: 'low', burst_sensitivity: 'low' };

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
  /** State in shared memory. Other threads read it to make the same decisions. */
  readonly sharedState: SharedState;
  /** Decides queries over TCP in this thread. */
  readonly overTcp: TcpPolicy;
  readonly #policy: QueryPolicy;
  readonly #verdicts = new Float64Array(VERDICTS);
  readonly #newVerdicts: Int32Array;
  /** Zones that are or will be seeded. */
  readonly #seededZones = new Set<Zone>();
  /** Numbers of users' queries (for known names) since the start, by outcome. */
  readonly userQueries = { answered: 0, limited: 0, unanswered: 0 };
  #rule: Rule | undefined;
  #accessLists: AccessLists = NO_LISTS;
  #attack = false;
  #ready = false;
  #restoredLately = false;
  #isRelaxed = true;
  #tickedMs = Number.NEGATIVE_INFINITY;
  #unhealthyMs = Number.NEGATIVE_INFINITY;
  /** Raises the account's limit for zones without an attack. */
  readonly #allowance = new Allowance();
  #isCalmLimited = false;
  /** Sum of the learned rates of the zones that are judged by query rate. */
  #learnedPerSecond = 0;
  readonly #assessments = new ZoneAssessments();
  readonly #policies = new ZonePolicies();
  /** Queries per second that the servers answered in time. */
  readonly #served = new PeakRate();

  constructor(key: HashKey, options: Partial<DetectorOptions> = {}, nowMs = 0) {
    this.options = { ...DEFAULT_DETECTOR_OPTIONS, ...options };
    this.key = key;
    this.sharedState = newSharedState(this.options.profile.maxNames ?? DEFAULT_MAX_NAMES);
    this.#policy = new QueryPolicy(key, this.sharedState, (zone, atMs) => this.alarm(zone, atMs));
    this.overTcp = new TcpPolicy(this.#policy, this.sharedState, (zone, atMs) => this.alarm(zone, atMs));
    this.#newVerdicts = new Int32Array(this.sharedState.verdicts);
    this.#policy.flags.limitAction = this.options.limitAction;
    this.profile = new Profile(this.options.profile, this.#policy.names);
    this.zones = new ZoneTree(key, {
      index: this.#policy.zoneIndex,
      sharedOf: (number) => this.#policy.zone(number),
      limits: {
        unknownPerSecond: this.options.thresholds.unknownPerSecond,
        learnForSeconds: this.options.learnForMinutes * SECONDS_PER_MINUTE,
      },
      policyOf: (name) => this.#policies.of(name),
      prepare: (zone) => this.#applyRule(zone),
    });
    this.history = new RateHistory(this.profile.options.windowMs);
    this.tick(nowMs);
  }

  /** Number of UDP queries that all threads have decided since the start, indexed by verdict. */
  get verdicts(): Float64Array {
    for (let verdict = 0; verdict < VERDICTS; verdict++)
      this.#verdicts[verdict] =
        (this.#verdicts[verdict] ?? 0) + Atomics.exchange(this.#newVerdicts, verdict, 0);
    return this.#verdicts;
  }

  get rule(): Rule | undefined {
    return this.#rule;
  }

  /** Sets the rule in force. Without a rule, every query passes that the access lists do not deny. */
  setRule(rule: Rule | undefined, nowMs: number): void {
    this.#rule = rule;
    this.#updateFlags();
    this.#resize(nowMs);
  }

  /** Replaces the access lists, which are checked before any rule. Throws `RangeError` if a list is too long. */
  setAccessLists(lists: AccessLists): void {
    this.#policy.accessLists.write(lists, this.key);
    this.#accessLists = lists;
  }

  get accessLists(): AccessLists {
    return this.#accessLists;
  }

  /** Returns whether the access lists allow or deny a name. A network in the lists takes precedence over this. */
  accessOfName(question: Question): Access | undefined {
    return this.#policy.accessLists.ofName(question);
  }

  /** Maximum number of UDP queries per second from one client. 0 means no limit. */
  get clientRatePerSecond(): number {
    return (this.#policy.flags.clientLimit * MS_PER_SECOND) / CLIENT_WINDOW_MS;
  }

  /** Whether an attack on any zone is reported. Updated every second, and immediately when an attack is detected. */
  get attack(): boolean {
    return this.#attack;
  }

  /** Whether queries may be dropped: a zone was seeded, or traffic was observed for long enough. */
  get ready(): boolean {
    return this.#ready;
  }

  /**
   * Replaces the policies of zones. Each applies to its zone and the names below it, down to the next zone with a
   * policy. Zones that had a policy keep what they have learned.
   */
  setZonePolicies(policies: readonly ZonePolicy[], nowMs: number): void {
    this.#policies.set(policies, (zone) => this.zones.addReserved(zone)?.number);
    for (const zone of this.zones.all()) zone.policy = this.#policies.of(zone.name);
    this.#updateFlags();
    this.#resize(nowMs);
  }

  /** Returns the zones that have a policy of their own. */
  zonesWithPolicy(): readonly Zone[] {
    return this.zones.all().filter((zone) => this.zoneOfPolicy(zone) === zone);
  }

  /** Returns the zone whose policy covers this zone, or undefined if none does. */
  zoneOfPolicy({ name }: Zone): Zone | undefined {
    const number = this.#policies.numberOf(name);
    return number === undefined ? undefined : this.zones.byNumber(number);
  }

  /** Sets whether the DNS servers behind the guard answer in time. Call every second. Before that, they count as healthy. */
  setUpstreamsHealthy(isHealthy: boolean, nowMs: number): void {
    this.#policy.flags.upstreamsHealthy = isHealthy;
    // If the clock was set back, the time since then must not be negative.
    this.#unhealthyMs = isHealthy ? Math.min(this.#unhealthyMs, nowMs) : nowMs;
    this.#isRelaxed = nowMs - this.#unhealthyMs >= RELAXED_AFTER_MS;
  }

  get upstreamsHealthy(): boolean {
    return this.#policy.flags.upstreamsHealthy;
  }

  /**
   * Returns rate and burst of the account's token bucket for zones under attack, under the sensitivities of `rule`
   * (default: the rule in force).
   */
  bucketSize(rule: RuleSensitivities | undefined = this.#rule): Threshold {
    return this.#accountBuckets(rule).attacked;
  }

  /** Like {@link bucketSize}, for the bucket of zones that are not under attack. */
  calmBucketSize(rule: RuleSensitivities | undefined = this.#rule): Threshold {
    return raised(this.#accountBuckets(rule).calm, this.#allowance.factor, this.#served.perSecond);
  }

  /** Factor by which the rate of {@link calmBucketSize} is raised at present; at least 1. */
  get calmFactor(): number {
    return this.#allowance.factor;
  }

  /** Returns rate and burst of the token bucket of all zones that are judged by query rate together. */
  ceilingSize(rule: RuleSensitivities | undefined = this.#rule): Threshold {
    const servedPerSecond = this.#served.perSecond;
    const learnedPerSecond = this.#learnedPerSecond;
    return ceilingOf({ servedPerSecond, learnedPerSecond }, rule);
  }

  #accountBuckets(rule: RuleSensitivities | undefined): AccountBuckets {
    const { thresholds: configured } = this.options;
    return accountBuckets({ learned: this.history.threshold, configured }, rule);
  }

  /**
   * Returns the sizes of the token buckets of a zone under the sensitivities of `rule` (default: the rule in force).
   * Those of the zone's policy replace them.
   */
  zoneBucketSizes(zone: Zone, rule: RuleSensitivities | undefined = this.#rule): ZoneBuckets {
    const account = (sensitivities: RuleSensitivities) => this.calmBucketSize(sensitivities);
    return zoneBuckets(zone, rule, { servedPerSecond: this.#served.perSecond, account });
  }

  /** Returns samples of the UDP queries that all threads decided in the last `spanMs` milliseconds. */
  decisions(nowMs: number, spanMs: number): RecordedDecisions {
    return this.#policy.decisions.read(nowMs, spanMs);
  }

  /** Returns the number of tokens in the account's token bucket for zones under attack. */
  tokens(nowMs: number): number {
    return this.#policy.flags.bucket.level(nowMs);
  }

  /** Returns the verdict on a UDP query, and counts it. `client`: source address of the query, if known. */
  decide(question: Question, nowMs: number, client?: string): Verdict {
    return this.#policy.decide(question, nowMs, client);
  }

  /** See {@link QueryPolicy.decideCookie}. */
  decideCookie(question: Question, nowMs: number, client: string): Verdict {
    return this.#policy.decideCookie(question, nowMs, client);
  }

  /** See {@link QueryPolicy.userZone}. */
  get userZone(): number {
    return this.#policy.userZone;
  }

  /** See {@link QueryPolicy.countUser}. */
  countUser(userZone: number, end: UserEnd): void {
    this.#policy.countUser(userZone, end);
  }

  /** Checks the zone with this number for an attack immediately, before the current second ends. */
  alarm(number: number, nowMs: number): void {
    const zone = this.zones.byNumber(number);
    zone.evaluateEarly(nowMs);
    if (zone.attacked(nowMs)) this.#attack = true;
  }

  /**
   * Returns why a query needs a token, or `none`. Assumes that the name does not exceed its usual rate. Changes no
   * state.
   */
  reasonToPay(question: Question, zone: Zone, nowMs: number): Reason {
    const place = this.profile.find(question.hashHigh, question.hashLow);
    return this.#policy.reasonToPay(question, zone.shared, place, false, nowMs);
  }

  /**
   * Learns the zone that a negative answer names, and the queried name. `question` must be parsed from `answer`.
   * `isProven`: the address `client` cannot be forged, for example because the query came over TCP.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  learnAnswer(answer: Uint8Array, question: Question, client: string, nowMs: number, isProven = false): void {
    learnAnswer(this, answer, question, client, nowMs, isProven);
  }

  /** Client networks that query known names. */
  get clients(): KnownClients {
    return this.#policy.knownClients;
  }

  get zoneIndex(): ZoneIndex {
    return this.#policy.zoneIndex;
  }

  addZone(wire: Uint8Array): void {
    this.zones.addWire(wire);
  }

  /** Learns from the answer to a question. `kind`: an `AnswerKind`. `network`: hash of the client's network. */
  learn(question: Question, { kind, network }: AnsweredTo, nowMs: number): void {
    this.learnIn(this.zoneIndex.find(question), question, kind, network, false, nowMs);
  }

  allows(question: Question, client: string): boolean {
    return this.#policy.allows(question, client);
  }

  /**
   * Like {@link learn}, with the number of the zone. `isAllowed`: an access list allowed the query. From its answer,
   * only the name is then learned; rates, shares and attack detection do not count it.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  learnIn(
    number: number,
    asked: AskedName,
    kind: number,
    network: number,
    isAllowed: boolean,
    nowMs: number,
    isProven = false,
  ): void {
    const zone = this.zones.byNumber(number);
    const { profile } = this;
    const place = profile.find(asked.hashHigh, asked.hashLow);
    const known = place >= 0;
    const attacked = zone.attacked(nowMs);
    if (!isAllowed) {
      if (zone.isReported(nowMs)) zone.attackCounts.noteAnswer(kind);
      zone.noteAnswer(kind, known, attacked);
    }
    if (!zone.proves(kind, known)) return;
    if (known && !isAllowed) this.clients.note(network, nowMs);
    // Record the answer for a known name, even if nothing else is learned from it.
    const isOld = known && profile.touch(place, asked.type, nowMs, number, isProven);
    if (zone.byRate) {
      // Any name may exist in the zone, so one answer is no evidence that clients use the name.
      const seen = isOld ? 'known' : profile.learnRecurring(asked, nowMs, number);
      if (!isAllowed) zone.notePositive(!known && seen === 'first');
    } else if (attacked && zone.shared.mode === 'enabled') {
      if (!isOld) this.#learnUnderAttack(zone, asked, kind, network, nowMs);
    } else {
      const seen = isOld ? 'known' : profile.learn(asked, network, nowMs, number, isProven);
      if (!isAllowed) zone.notePositive(!known && seen === 'first');
    }
  }

  /** In a zone that denies nearly all unknown names, the names of a flood are not answered with records. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  #learnUnderAttack(zone: Zone, asked: AskedName, kind: number, network: number, nowMs: number): void {
    if (kind === AnswerKind.records && zone.denials.deniesUnknown(zone.seeded))
      this.profile.learnApart(asked, network, nowMs, zone.number);
    else this.profile.learnUnderAttack(asked, nowMs, zone.number);
  }

  /** Checks zones for attacks, updates thresholds, and deletes old names and clients. Call every second. */
  tick(nowMs: number): void {
    const zones = this.zones.all();
    let queries = 0;
    let unknown = 0;
    let passed = 0;
    let refusedCalm = 0;
    const unknownOf = new Map<Zone, number>();
    const counted: ZoneSecond[] = [];
    for (const zone of zones) {
      const ticked = zone.tick(nowMs, { isRelaxed: this.#isRelaxed });
      unknownOf.set(zone, ticked.unknown);
      if (ticked.counted.queries > 0) counted.push({ zone, ...ticked.counted });
      queries += ticked.usual;
      unknown += ticked.unknown;
      passed += ticked.passed;
      refusedCalm += ticked.refusedCalm;
      this.userQueries.answered += ticked.users.answered;
      this.userQueries.limited += ticked.users.limited;
      this.userQueries.unanswered += ticked.users.unanswered;
    }
    this.#isCalmLimited = refusedCalm > 0;
    if (this.upstreamsHealthy) this.#served.add(passed, this.#secondsSince(nowMs), true);
    this.#tickedMs = nowMs;
    if (unknown >= this.options.thresholds.accountUnknownPerSecond)
      for (const [zone, perSecond] of unknownOf) zone.markAttackedWithAccount(perSecond, nowMs);
    const reported = zones.filter((zone) => zone.isReported(nowMs));
    this.#attack = reported.length > 0;
    this.#policies.noteSecond(this.upstreamsHealthy, new Set(reported.map(({ policy }) => policy)));
    this.#assess(counted, nowMs);
    const attacked = zones.some((zone) => zone.attacked(nowMs));
    // Overloaded servers have not proven that they answer this rate.
    const isProven = this.upstreamsHealthy;
    this.history.add(isProven ? queries : 0, attacked || !isProven, nowMs);
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
   * Announces that a zone will be seeded. Until the seeding ends, names that were seeded before a restart remain
   * known. If there are no such names, no name counts as unknown until the seeding ends or the zone was observed for
   * `learnForMinutes`.
   */
  expectSeed(name: string): void {
    const zone = this.zones.add(name);
    if (zone === undefined) return;
    this.#seededZones.add(zone);
    this.profile.seededZones = this.#seededZones.size;
    for (const other of this.zones.all())
      if (zone !== this.zones.outside && other.previousRun.boundlessBy === zone.name)
        other.markBoundless(zone.name);
    if (zone.previousRun.seeded === true && this.#restoredLately) this.noteSeeded(zone);
    else zone.awaitNames();
  }

  /** Marks a zone as seeded: all its names are in the profile. */
  noteSeeded(zone: Zone): void {
    this.#seededZones.add(zone);
    this.profile.seededZones = this.#seededZones.size;
    zone.noteSeeded();
    this.#noteIncomplete();
    this.#ready = true;
    this.#updateFlags();
  }

  /** Returns what the detector has learned, except the names of the profile. */
  learned(nowMs: number): Learned {
    return {
      savedMs: nowMs,
      hashKey: this.key,
      rates: this.history.samples(),
      servedPerSecond: this.#served.perSecond,
      clients: this.clients.stored(nowMs),
      zones: this.zones.all().map((zone) => ({
        ...zone.learned(),
        attacked: zone.attacked(nowMs),
        days: this.profile.days.stored(zone.number),
      })),
    };
  }

  /**
   * Restores learned state that was stored under the same hash key. Call before zones are added, because stored names
   * contain zone numbers.
   */
  restore(learned: Learned, nowMs: number): void {
    this.#restoredLately = nowMs - learned.savedMs <= MAX_SEED_AGE_MS;
    this.history.restore(learned.rates);
    this.#served.perSecond = learned.servedPerSecond ?? 0;
    if (learned.clients !== undefined) this.clients.restore(learned.clients, nowMs);
    for (const stored of learned.zones) {
      const zone = stored.name === '' ? this.zones.outside : this.zones.add(stored.name);
      zone?.restore(stored);
      if (zone !== undefined && stored.days !== undefined)
        this.profile.days.restore(zone.number, stored.days);
    }
    // Compute the thresholds from the restored rates before zones are marked as attacked.
    this.tick(nowMs);
    for (const { name, attacked } of learned.zones)
      if (attacked === true && this.#restoredLately)
        (name === '' ? this.zones.outside : this.zones.get(name))?.markAttacked(nowMs, 'earlier_run');
    this.tick(nowMs);
  }

  /** Returns how each zone would fare under other sensitivities, the busiest zones first. */
  assessments(nowMs: number): ZoneAssessment[] {
    return this.#assessments.list(this.#rule, nowMs);
  }

  isAssessed(zone: Zone): boolean {
    return this.#assessments.isAssessed(zone);
  }

  /**
   * Discards what was learned about a zone and the zones below it that the same policy covers: rates, shares,
   * assessments, and names that no zone lists. `name`: with or without a final dot.
   */
  forget(name: string, nowMs: number): void {
    const zones = this.zones.all().filter((zone) => this.#policies.covers(name, zone.name));
    for (const zone of zones) {
      zone.forget();
      this.#assessments.forget(zone);
    }
    this.profile.deleteLearned(new Set(zones.map(({ number }) => number)));
    this.#updateFlags();
    this.#resize(nowMs);
  }

  restoreNames(entries: Iterable<ProfileEntry>): void {
    for (const entry of entries) this.profile.restore(entry);
  }

  /** Whether a query that needs a token for this reason is dropped or truncated if it gets none. */
  mayDrop(zone: Zone, reason: Reason, nowMs: number): boolean {
    return this.#policy.mayDrop(zone.shared, reason, nowMs);
  }

  readonly #seedHolds = (number: number, generation: number): boolean =>
    this.zones.byNumber(number).seed.holds(generation);

  /** Marks seeded zones whose names do not all fit into the profile. They are judged by query rate, not by names. */
  #noteIncomplete(): void {
    const { incompleteZones } = this.profile;
    for (const zone of this.#seededZones) {
      const isIncomplete = incompleteZones.has(zone.number) || zone.seed.wasIncomplete;
      zone.setIncomplete(zone.seeded && isIncomplete);
    }
  }

  /** Returns the seconds since the last tick: 1 at the first one, and at most ten minutes. */
  #secondsSince(nowMs: number): number {
    const seconds = (nowMs - this.#tickedMs) / MS_PER_SECOND;
    return seconds > 0 && seconds <= MAX_TICK_SECONDS ? seconds : 1;
  }

  #assess(counted: readonly ZoneSecond[], nowMs: number): void {
    this.#assessments.add(counted, {
      nowMs,
      upstreamsHealthy: this.upstreamsHealthy,
      rule: this.#rule,
      attackedSize: (sensitivities) => this.bucketSize(sensitivities),
      calmSize: (sensitivities) => this.calmBucketSize(sensitivities),
      ceilingSize: (sensitivities) => this.ceilingSize(sensitivities),
      zoneSizes: (zone, sensitivities) => this.zoneBucketSizes(zone, sensitivities),
      zoneOf: (number) => this.zones.byNumber(number),
    });
  }

  #updateFlags(): void {
    const { flags } = this.#policy;
    const isFounded = this.history.isLearned || this.options.thresholds.ratePerSecond !== undefined;
    flags.mayDrop = !this.#ready ? 'never' : isFounded ? 'always' : 'underAttack';
    for (const zone of this.zones.all()) this.#applyRule(zone);
  }

  #applyRule(zone: Zone): void {
    zone.shared.setPolicy(this.#policies.settingsOf(zone, this.#rule));
  }

  /** Whether the number of queries per client is limited. At profile sensitivity `low`, only names are checked. */
  #limitsClients(): boolean {
    return this.zones
      .all()
      .some(({ shared: { mode, level } }) => mode !== 'none' && level > profileLevel.low);
  }

  /** A configured threshold is never raised. */
  get #mayRaise(): boolean {
    return this.#isRelaxed && this.options.thresholds.ratePerSecond === undefined;
  }

  #resize(nowMs: number): void {
    const { flags } = this.#policy;
    const { ratePerSecond, burst } = this.bucketSize();
    flags.bucket.resize(ratePerSecond, burst, nowMs);
    const most = mostFactor(this.#accountBuckets(this.#rule).calm.ratePerSecond, this.#served.perSecond);
    this.#allowance.update(
      { isLimited: this.#isCalmLimited, isRelaxed: this.#mayRaise, mostFactor: most },
      nowMs,
    );
    const calm = this.calmBucketSize();
    flags.calmBucket.resize(calm.ratePerSecond, calm.burst, nowMs);
    this.clients.resize({ ratePerSecond, burst }, this.bucketSize(LOW_SENSITIVITY), nowMs);
    flags.clientLimit = this.#limitsClients() ? clientLimit(ratePerSecond) : 0;
    this.#learnedPerSecond = 0;
    for (const zone of this.zones.all()) {
      const { unknown, learned, mostFactor } = this.zoneBucketSizes(zone);
      zone.shared.bucket.resize(unknown.ratePerSecond, unknown.burst, nowMs);
      zone.shared.learnedBucket.resize(learned.ratePerSecond, learned.burst, nowMs);
      const isLimited = zone.isLimitedByRate;
      zone.allowance.update({ isLimited, isRelaxed: this.#isRelaxed, mostFactor }, nowMs);
      const { busiest } = zone.usual;
      if (zone.byRate) this.#learnedPerSecond += busiest.unknown.perSecond + busiest.learned.perSecond;
    }
    const ceiling = this.ceilingSize();
    flags.ceiling.resize(ceiling.ratePerSecond, ceiling.burst, nowMs);
  }
}
