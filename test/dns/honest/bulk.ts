/**
 * Queries that are only counted. A simulated query represents many, whose names, reasons and outcomes are the same:
 * they take tokens from the same bucket, and are counted in the zone's shared memory (src/dns/detector/zones/
 * sharedZone.ts), as if each was decided on its own.
 */
import {
  type AttackDetector,
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  FIRST_TRUNCATION,
  profileLevel,
  QueryPolicy,
  type Reason,
  reasonOf,
  reasons,
  type TokenBucket,
  type Verdict,
  ZONE_BYTES,
} from '../../../src/dns/detector/index.ts';
import { AnswerKind, networkHash, type Question } from '../../../src/dns/protocol/index.ts';
import type { Random } from '../../support/random.ts';
import { KEY } from './names.ts';

const SECOND_MS = 1000;
/** Steps of one second are simulated in this number of parts, because a flood can be detected within a second. */
const PARTS_OF_SECOND = 10;
/** Share of the account's bucket that the first query for an unknown name leaves (payment.ts). */
const RESERVED_SHARE = 0.2;
/** One in so many limited queries from new clients is answered with TC=1 (queryPolicy.ts). */
const SLIP = 8;
/** Indexes of 32-bit counters in the shared memory of a zone (sharedZone.ts). */
const WORDS_PER_ZONE = ZONE_BYTES / Int32Array.BYTES_PER_ELEMENT;
const QUERIES = 0;
const UNKNOWN = 1;
const REFUSED_BY_RATE = 2;
const ALARM_AT = 3;
const REFUSED = 16;
const WOULD_REFUSE = 17;
const KNOWN_WOULD_REFUSE = 18;
const BEYOND_USUAL = 19;
const LEARNED = 23;
const REFUSED_CALM = 31;

/** What happened to a number of queries. The fields sum to that number. */
export interface Outcomes {
  readonly forwarded: number;
  readonly truncated: number;
  readonly dropped: number;
}

/** A simulated query, and the number of further queries that it represents. */
export interface Represented {
  readonly question: Question;
  readonly zone: number;
  readonly verdict: Verdict;
  readonly isKnown: boolean;
  /** Whether the name is known, but not listed by its zone. */
  readonly isLearned: boolean;
  /** Whether the names of the further queries were asked for lately. */
  readonly isAgain: boolean;
  readonly client: string;
  readonly rest: number;
}

/** Answers of one kind to names of one zone. */
interface Answers {
  readonly kind: number;
  readonly isKnown: boolean;
  readonly isFirst: boolean;
  readonly count: number;
}

/** Queries of one step that take tokens from the same bucket, for the same reason. */
export interface Group {
  readonly zone: number;
  readonly reason: Reason;
  readonly isAgain: boolean;
  readonly isKnown: boolean;
  readonly isLearned: boolean;
  /** Whether the clients' networks have sent queries for known names for an hour. */
  readonly isKnownNetwork: boolean;
  /** Number of queries that are only counted. */
  queries: number;
  /** Number of queries that were decided one by one, and of those that passed. */
  decided: number;
  decidedPassed: number;
  /** Share of all queries that pass. Queries that compete for a bucket have equal chances. */
  share: number;
  /** Outcome of the others. */
  otherwise: keyof Outcomes;
}

/** Reasons whose token bucket this file knows. Queries with another reason are decided one by one. */
const ACCOUNT_REASONS: ReadonlySet<Reason> = new Set(['unknownName', 'unknownType', 'aboveUsual']);

export class Bulk {
  readonly #detector: AttackDetector;
  readonly #policy: QueryPolicy;
  readonly #random: Random;
  readonly #words: Int32Array;
  #groups = new Map<number, Group>();

  constructor(detector: AttackDetector, random: Random) {
    this.#detector = detector;
    this.#random = random;
    this.#words = new Int32Array(detector.sharedState.zones);
    // A policy on the same shared memory, like that of another thread: it has the account's bucket.
    this.#policy = new QueryPolicy(KEY, detector.sharedState, (zone, nowMs) => detector.alarm(zone, nowMs));
  }

  /** Adds the queries that a simulated query represents. Call before {@link settle}, for all queries of the step. */
  add(represented: Represented, nowMs: number): Group | undefined {
    const { verdict, zone, isKnown, isAgain, rest } = represented;
    const reason = reasonOf(verdict);
    if (rest === 0 && !ACCOUNT_REASONS.has(reason) && reason !== 'zoneRate') return undefined;
    if (!ACCOUNT_REASONS.has(reason) && reason !== 'none' && reason !== 'zoneRate')
      return this.#one(represented, nowMs);
    if (reason === 'none' && this.#limitsNewClient(represented, nowMs)) return this.#one(represented, nowMs);
    const isKnownNetwork = this.#detector.clients.isKnown(networkHash(represented.client), nowMs);
    const flags = [isAgain, isKnown, represented.isLearned, isKnownNetwork];
    const key = flags.reduce(
      (number, flag) => 2 * number + Number(flag),
      zone * reasons.length + reasons.indexOf(reason),
    );
    const group = this.#groups.get(key) ?? {
      ...newGroup(represented),
      isKnownNetwork,
      otherwise: 'forwarded',
    };
    group.queries += rest;
    group.decided++;
    if (verdict < FIRST_LIMITED) group.decidedPassed++;
    this.#groups.set(key, group);
    return group;
  }

  /**
   * Takes the tokens of all groups, second by second, and counts the queries. Queries that compete for a bucket get
   * equal shares of its tokens.
   */
  settle(startMs: number, seconds: number): void {
    const groups = [...this.#groups.values()];
    this.#groups = new Map();
    for (const group of groups) group.otherwise = this.#outcomeWithoutToken(group, startMs);
    const parts = seconds === 1 ? PARTS_OF_SECOND : seconds;
    const partMs = (seconds * SECOND_MS) / parts;
    for (let part = 1; part <= parts; part++) {
      // At the end of the part, after the queries that were decided at its times.
      const atMs = startMs + part * partMs - 1;
      for (const competing of competitorsOf(groups, (group) => this.#bucketOf(group, atMs)))
        this.#share(competing, parts, atMs);
      for (const group of groups) this.#countQueries(group, parts, atMs);
    }
    for (const group of groups) this.#countLimited(group);
  }

  /** Counts answers without learning their names. `isFirst`: each of the names was asked for once. */
  countAnswers(number: number, { kind, isKnown, isFirst, count }: Answers, nowMs: number): void {
    const zone = this.#detector.zones.byNumber(number);
    const answers = this.#whole(Math.max(0, count));
    zone.answers += answers;
    if (kind === AnswerKind.nxdomain || kind === AnswerKind.denial) zone.nxdomains += answers;
    if (!isKnown && !zone.attacked(nowMs)) for (let n = 0; n < answers; n++) zone.denials.note(kind);
    if (zone.proves(kind, isKnown) && !zone.attacked(nowMs))
      for (let n = 0; n < answers; n++) zone.notePositive(isFirst);
    if (isKnown) return;
    if (!(kind === AnswerKind.noData && zone.denials.noDataProves)) zone.unknownAnswers += answers;
    if (kind === AnswerKind.records) zone.unknownPositives += answers;
  }

  /**
   * Takes the tokens of one of the parts of a step, for groups with the same bucket and reserve. Queries that were
   * decided one by one took their tokens first, but have no better chance than the others.
   */
  #share(groups: readonly Group[], parts: number, atMs: number): void {
    const [first] = groups;
    if (first === undefined) return;
    const sum = (of: (group: Group) => number): number =>
      groups.reduce((all, one) => all + of(one), 0) / parts;
    const passesAll = first.reason === 'zoneRate' && this.#policy.zone(first.zone).awaitsRate;
    const tokens = this.#whole(sum(({ queries }) => queries));
    const taken = passesAll ? tokens : this.#taken(first, tokens, atMs);
    const passed = taken + sum(({ decidedPassed }) => decidedPassed);
    const passes = passesAll ? 1 : passed / (tokens + sum(({ decided }) => decided));
    for (const group of groups) group.share += passes / parts;
  }

  /** Takes tokens as `QueryPolicy` does for queries like these. Returns how many there were. */
  #taken(group: Group, tokens: number, atMs: number): number {
    const zone = this.#policy.zone(group.zone);
    const bucket = this.#bucketOf(group, atMs);
    const leaves = isReserved(group) || (zone.payer !== undefined && !group.isKnown);
    const taken = bucket.takeUpTo(tokens, atMs, leaves ? bucket.burst * RESERVED_SHARE : 0);
    const hasCeiling = group.reason === 'zoneRate' && zone.payer === undefined;
    return hasCeiling ? this.#policy.flags.ceiling.takeUpTo(taken, atMs) : taken;
  }

  #bucketOf({ zone, reason, isKnown }: Group, nowMs: number): TokenBucket {
    if (reason === 'none' || reason === 'clientRate' || reason === 'accessList' || reason === 'newClient')
      throw new Error(`queries with the reason ${reason} pay from no bucket`);
    return this.#policy.bucketOf(this.#policy.zone(zone), reason, isKnown, nowMs);
  }

  #outcomeWithoutToken({ zone, reason, isKnownNetwork }: Group, nowMs: number): keyof Outcomes {
    const { flags } = this.#policy;
    if (!this.#policy.mayDrop(this.#policy.zone(zone), reason, nowMs)) return 'forwarded';
    const isSilent = flags.limitAction === 'drop' && !(reason === 'zoneRate' && isKnownNetwork);
    return isSilent ? 'dropped' : 'truncated';
  }

  /** Counts the queries of a part of a step. If the number of unknown names reaches the alarm, calls the detector. */
  #countQueries({ zone, queries, isKnown, isLearned }: Group, parts: number, atMs: number): void {
    const count = this.#whole(queries / parts);
    this.#add(zone, QUERIES, count);
    if (isLearned) this.#add(zone, LEARNED, count);
    if (isKnown) return;
    this.#add(zone, UNKNOWN, count);
    const at = zone * WORDS_PER_ZONE;
    const alarmAt = this.#words[at + ALARM_AT] ?? 0;
    if (parts === PARTS_OF_SECOND && (this.#words[at + UNKNOWN] ?? 0) >= alarmAt)
      this.#detector.alarm(zone, atMs);
  }

  #countLimited({ zone, reason, queries, share, otherwise, isKnown }: Group): void {
    const limited = this.#whole(Math.max(0, queries * (1 - share)));
    if (reason !== 'zoneRate' && reason !== 'none') this.#add(zone, REFUSED_CALM, limited);
    if (reason === 'zoneRate') this.#add(zone, REFUSED_BY_RATE, limited);
    this.#add(zone, otherwise === 'forwarded' ? WOULD_REFUSE : REFUSED, limited);
    if (isKnown && otherwise === 'forwarded') this.#add(zone, KNOWN_WOULD_REFUSE, limited);
    if (isKnown && this.#policy.flags.mayDrop === 'always') this.#add(zone, BEYOND_USUAL, limited);
  }

  #add(zone: number, counter: number, count: number): void {
    const at = zone * WORDS_PER_ZONE + counter;
    this.#words[at] = (this.#words[at] ?? 0) + count;
  }

  #limitsNewClient({ client, zone }: Represented, nowMs: number): boolean {
    const { knownClients } = this.#policy;
    return (
      this.#policy.zone(zone).level >= profileLevel.very_high &&
      knownClients.isNew(networkHash(client), nowMs)
    );
  }

  /** Decides queries one by one, because their limit cannot be taken in one step. */
  #one(represented: Represented, nowMs: number): Group {
    const { question, client } = represented;
    const queries = this.#whole(represented.rest);
    const group = {
      ...newGroup(represented),
      isKnownNetwork: false,
      queries,
      decided: 1,
      decidedPassed: represented.verdict < FIRST_NOT_FORWARDED ? 1 : 0,
      otherwise: 'dropped' as keyof Outcomes,
    };
    let truncated = 0;
    let passed = group.decidedPassed;
    for (let n = 0; n < queries; n++) {
      const verdict = this.#detector.decide(question, nowMs, client);
      if (verdict < FIRST_NOT_FORWARDED) passed++;
      else if (verdict >= FIRST_TRUNCATION) truncated++;
    }
    const limited = queries + 1 - passed;
    group.share = passed / (queries + 1);
    // With a slip, most queries are dropped, and some are truncated.
    if (truncated * (SLIP / 2) > limited) group.otherwise = 'truncated';
    return group;
  }

  /** Returns an integer whose expected value is `count`. */
  #whole(count: number): number {
    return Math.floor(count + this.#random.next());
  }
}

/** Returns the groups by bucket. Those that must leave a reserve come first. */
function competitorsOf(groups: readonly Group[], bucketOf: (group: Group) => TokenBucket): Group[][] {
  const numbers = new Map<TokenBucket, number>();
  const byBucket = new Map<number, Group[]>();
  for (const group of groups) {
    if (group.reason === 'none') continue;
    const bucket = bucketOf(group);
    const number = numbers.get(bucket) ?? numbers.size;
    numbers.set(bucket, number);
    const key = 2 * number + (isReserved(group) ? 0 : 1);
    byBucket.set(key, [...(byBucket.get(key) ?? []), group]);
  }
  return [...byBucket].sort(([a], [b]) => a - b).map(([, competitors]) => competitors);
}

const isReserved = ({ reason, isAgain }: Group): boolean => reason === 'unknownName' && !isAgain;

const newGroup = ({
  zone,
  verdict,
  isAgain,
  isKnown,
  isLearned,
}: Represented): Omit<Group, 'otherwise' | 'isKnownNetwork'> => ({
  zone,
  isLearned,
  reason: reasonOf(verdict),
  isAgain,
  isKnown,
  queries: 0,
  decided: 0,
  decidedPassed: 0,
  share: reasonOf(verdict) === 'none' ? 1 : 0,
});
