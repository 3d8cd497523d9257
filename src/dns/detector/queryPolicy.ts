/**
 * Decides single DNS queries from shared memory, in any thread. docs/reference/dns-protection.md lists the conditions
 * and numbers.
 */

import { type HashKey, networkHash, type Question } from '../protocol/index.ts';
import { type Access, SharedAccessLists } from './clients/accessLists.ts';
import { ClientAddress } from './clients/clientAddress.ts';
import { HeavyClients } from './clients/heavyClients.ts';
import { KnownClients } from './clients/knownClients.ts';
import { DecisionSamples, packFacts } from './decisionSamples.ts';
import { reserveOf } from './limits/payment.ts';
import { profileLevel } from './limits/sensitivity.ts';
import { isSeeded, tenureAt } from './profile/entry.ts';
import { PROVEN_TENURE } from './profile/eviction.ts';
import { hasType, noteQuery } from './profile/nameNotes.ts';
import { NameTable } from './profile/nameTable.ts';
import { RecentNames } from './recentNames.ts';
import { PolicyFlags, type SharedState } from './sharedState.ts';
import type { TokenBucket } from './tokenBucket.ts';
import type { UserEnd } from './userEnd.ts';
import {
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  type Reason,
  reasonOf,
  type Verdict,
  verdictOf,
} from './verdict.ts';
import { SharedZone } from './zones/sharedZone.ts';
import { ZoneIndex } from './zones/zoneIndex.ts';

const PASSED = verdictOf('passed', 'none');
/** Reasons for which a query needs a rate-limit token. These reasons depend on the name, not on the client. */
type PayReason = Exclude<Reason, 'none' | 'clientRate' | 'accessList' | 'newClient'>;
const CLIENT_TRUNCATED = verdictOf('truncated', 'clientRate');
const CLIENT_WOULD_DROP = verdictOf('wouldDrop', 'clientRate');
/**
 * One in SLIP limited queries from new clients is answered with TC=1, like `slip` of response rate limiting. The
 * others are dropped, because sending an answer costs more than all other work on a query.
 */
const SLIP = 8;
const NEW_TRUNCATED = verdictOf('truncated', 'newClient');
const NEW_DROPPED = verdictOf('dropped', 'newClient');
const NEW_WOULD_DROP = verdictOf('wouldDrop', 'newClient');
const PAID = perReason('paid');
const WOULD_DROP = perReason('wouldDrop');
const ALLOWED = verdictOf('passed', 'accessList');
const DENIED = verdictOf('dropped', 'accessList');
const RATE_DROPPED = verdictOf('dropped', 'zoneRate');
const RATE_TRUNCATED = verdictOf('truncated', 'zoneRate');
const REFUSED = { drop: perReason('dropped'), truncate: perReason('truncated') } as const;

interface DecidedOn {
  readonly number: number;
  readonly zone: SharedZone;
  readonly place: number;
  readonly beyondUsual: boolean;
  readonly client: string | undefined;
  readonly nowMs: number;
}

export class QueryPolicy {
  readonly key: HashKey;
  readonly flags: PolicyFlags;
  readonly names: NameTable;
  readonly zoneIndex: ZoneIndex;
  readonly accessLists: SharedAccessLists;
  readonly knownClients: KnownClients;
  /** Samples of decided queries, for a replay under other sensitivities. */
  readonly decisions: DecisionSamples;
  readonly #memory: SharedState;
  readonly #heavyClients: HeavyClients;
  readonly #client = new ClientAddress();
  readonly #zones: SharedZone[] = [];
  readonly #recent: RecentNames;
  readonly #verdicts: Int32Array;
  readonly #onAlarm: (zone: number, nowMs: number) => void;
  #newRefused = 0;
  /**
   * Zone number plus 1 if the last decided query was a user's query (for a known name). 0 for other queries, and if
   * an access list decided. The data plane passes this value to {@link countUser} when the query ends.
   */
  userZone = 0;
  /** Whether an access list decided the last query by its name. False if by the client's network, or if none did. */
  isNameListed = false;

  /**
   * `onAlarm` is called with the number of a zone that the detector must check, because the zone's unknown names have
   * reached the alarm threshold.
   */
  constructor(key: HashKey, memory: SharedState, onAlarm: (zone: number, nowMs: number) => void) {
    this.key = key;
    this.flags = new PolicyFlags(memory);
    this.names = new NameTable(memory.maxNames, memory.names);
    this.zoneIndex = new ZoneIndex(memory.zoneIndex);
    this.accessLists = new SharedAccessLists(memory.accessLists);
    this.decisions = new DecisionSamples(memory.decisions);
    this.#heavyClients = new HeavyClients(memory.heavyClients, key);
    this.knownClients = new KnownClients(memory.knownClients, key);
    this.#memory = memory;
    this.#recent = new RecentNames(memory.recent);
    this.#verdicts = new Int32Array(memory.verdicts);
    this.#onAlarm = onAlarm;
  }

  /** Returns the verdict on a UDP query, and counts it. If `client` (an address) is undefined, only names matter. */
  decide(question: Question, nowMs: number, client?: string): Verdict {
    const verdict = this.accessVerdict(question, client) ?? this.#decideByName(question, nowMs, client);
    Atomics.add(this.#verdicts, verdict, 1);
    return verdict;
  }

  /**
   * Returns the verdict on a UDP query that consists of a DNS cookie, and counts it. It has no name that could be
   * known, so it pays a token at every sensitivity. `question` must have no labels.
   */
  decideCookie(question: Question, nowMs: number, client: string): Verdict {
    const { bucket } = this.flags;
    const pay = (): boolean => bucket.take(nowMs, reserveOf(false, bucket.burst));
    const verdict = this.cookieVerdict(question, client, pay);
    Atomics.add(this.#verdicts, verdict, 1);
    return verdict;
  }

  /** Returns the verdict on a DNS cookie. `pay` takes a token and returns true, or returns false. */
  cookieVerdict(question: Question, client: string, pay: () => boolean): Verdict {
    const listed = this.accessVerdict(question, client);
    if (listed !== undefined) return listed;
    if (this.zone(0).mode === 'none') return PASSED;
    if (pay()) return PAID.unknownName;
    if (!this.#limitsCookies) return WOULD_DROP.unknownName;
    return REFUSED[this.flags.limitAction].unknownName;
  }

  /** Unlike names, cookies are in no zone, so they are limited before a threshold or an attack is known. */
  get #limitsCookies(): boolean {
    const outside = this.zone(0);
    return outside.mode === 'enabled' && this.flags.mayDrop !== 'never' && !this.#isSpared(outside);
  }

  /** Returns the verdict of the access lists, or undefined if no entry matches. Networks are checked before names. */
  accessVerdict(question: Question, client: string | undefined): Verdict | undefined {
    this.userZone = 0;
    this.isNameListed = false;
    const lists = this.accessLists;
    if (lists.isEmpty) return undefined;
    let access: Access | undefined;
    if (lists.haveNetworks && client !== undefined) {
      this.#client.read(client);
      access = lists.ofClient(this.#client);
    }
    if (access === undefined && lists.haveNames) {
      access = lists.ofName(question);
      this.isNameListed = access !== undefined;
    }
    if (access === undefined) return undefined;
    return access === 'allow' ? ALLOWED : DENIED;
  }

  allows(question: Question, client: string): boolean {
    return this.accessVerdict(question, client) === ALLOWED;
  }

  #decideByName(question: Question, nowMs: number, client: string | undefined): Verdict {
    const number = this.zoneIndex.find(question);
    const zone = this.zone(number);
    const place = this.names.find(question.hashHigh, question.hashLow);
    this.userZone = place < 0 ? 0 : number + 1;
    const beyondUsual = place >= 0 && noteQuery(this.names, place, nowMs, !zone.attacked(nowMs));
    if (place >= 0) this.countKnown(question.type, zone, place, beyondUsual);
    if (zone.count(place < 0)) {
      zone.suspect(nowMs);
      this.#onAlarm(number, nowMs);
    }
    const byName = this.#verdictOn(question, zone, place, beyondUsual, nowMs);
    const verdict = client === undefined ? byName : this.#decideByClient(byName, zone, client, nowMs);
    if (verdict >= FIRST_LIMITED) {
      zone.countRefusal(verdict >= FIRST_NOT_FORWARDED, place >= 0);
      if (place >= 0 && this.#isBeyondUsual(verdict)) zone.countBeyondUsual();
    }
    if (this.decisions.shouldRecord(nowMs))
      this.#record(question, { number, zone, place, beyondUsual, client, nowMs });
    return verdict;
  }

  /**
   * Whether a limited query for a known name is evidence of an attack. Always false until a threshold is learned or
   * configured. Also false if a client exceeded its limit, because a large resolver may do so permanently.
   */
  #isBeyondUsual(verdict: Verdict): boolean {
    return this.flags.mayDrop === 'always' && reasonOf(verdict) !== 'clientRate';
  }

  #record(question: Question, { number, zone, place, beyondUsual, client, nowMs }: DecidedOn): void {
    const facts = packFacts((level) => this.#reasonAt(level, question, zone, place, beyondUsual, nowMs), {
      isKnown: place >= 0,
      isNewClient: client !== undefined && this.knownClients.isNew(networkHash(client), nowMs),
      isAttacked: zone.attacked(nowMs),
      zone: number,
    });
    if (client !== undefined) this.#client.read(client);
    const isKnown = client !== undefined && this.#client.isKnown;
    const { hashHigh, hashLow } = question;
    const tag = isKnown ? this.#heavyClients.tagOf(this.#client) : 0;
    this.decisions.record({ facts, hashHigh, hashLow, client: tag }, nowMs);
  }

  /** Counts the outcome of a user's query (for a known name). Does nothing if `userZone` is 0. */
  countUser(userZone: number, end: UserEnd): void {
    if (userZone !== 0) this.zone(userZone - 1).countUser(end);
  }

  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  #decideByClient(byName: Verdict, zone: SharedZone, client: string, nowMs: number): Verdict {
    // Known networks may send genuine new names. They retry over TCP, where an address cannot be forged.
    if (byName === RATE_DROPPED)
      return this.knownClients.isKnown(networkHash(client), nowMs) ? RATE_TRUNCATED : byName;
    // A query that needs a token is already limited by a token bucket, so the client limit does not count it.
    if (byName !== PASSED) return byName;
    const { clientLimit } = this.flags;
    if (clientLimit === 0 || zone.mode === 'none' || zone.level === profileLevel.low) return PASSED;
    const verdict = this.#limitClient(client, zone, clientLimit, nowMs);
    if (verdict !== PASSED || zone.level < profileLevel.very_high) return verdict;
    if (this.knownClients.admits(networkHash(client), nowMs)) return PASSED;
    if (!this.#refusesClients(zone)) return NEW_WOULD_DROP;
    return this.#newRefused++ % SLIP === 0 ? NEW_TRUNCATED : NEW_DROPPED;
  }

  #refusesClients(zone: SharedZone): boolean {
    return zone.mode === 'enabled' && this.flags.mayDrop === 'always' && !this.#isSpared(zone);
  }

  /** Whether nothing is limited in the zone at present, because its servers answer in time. */
  #isSpared(zone: SharedZone): boolean {
    return zone.onlyWhenUnhealthy && this.flags.upstreamsHealthy;
  }

  /**
   * Counts a query of a client. Above the client's limit, the query is answered with TC=1 and not dropped, because
   * its source address may be forged. A retry over TCP proves the address.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  #limitClient(client: string, zone: SharedZone, limit: number, nowMs: number): Verdict {
    if (!this.#heavyClients.countAny(limit, nowMs)) return PASSED;
    this.#client.read(client);
    if (!this.#client.isKnown || this.#heavyClients.count(this.#client, nowMs) <= limit) return PASSED;
    return this.#refusesClients(zone) ? CLIENT_TRUNCATED : CLIENT_WOULD_DROP;
  }

  /** Returns why a query needs a rate-limit token under the rule in force, or `none`. Changes no state. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  reasonToPay(
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): PayReason | 'none' {
    if (zone.mode === 'none') return 'none';
    return this.#reasonAt(zone.level, question, zone, place, beyondUsual, nowMs);
  }

  /** Returns why a query needs a rate-limit token at a profile sensitivity, or `none`. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  #reasonAt(
    level: number,
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): PayReason | 'none' {
    if (zone.byRate && (place < 0 || this.isLearned(place))) return 'zoneRate';
    if (place < 0) {
      if (zone.awaitsNames) return 'none';
      return level > profileLevel.low || zone.attacked(nowMs) ? 'unknownName' : 'none';
    }
    if (level >= profileLevel.high && !this.#knowsType(question, place))
      return zone.awaitsNames ? 'none' : 'unknownType';
    return level >= profileLevel.very_high && beyondUsual ? 'aboveUsual' : 'none';
  }

  /**
   * Whether a query that gets no token is dropped or truncated. Until the account's threshold is learned or
   * configured, this happens only in zones that are under attack or above their own rate limit.
   */
  mayDrop(zone: SharedZone, reason: Reason, nowMs: number): boolean {
    const { mayDrop } = this.flags;
    if (zone.mode !== 'enabled' || mayDrop === 'never' || this.#isSpared(zone)) return false;
    return mayDrop === 'always' || reason === 'zoneRate' || zone.attacked(nowMs);
  }

  /** Counts a query for a known name by what it has to pay, now or at a higher profile sensitivity. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  countKnown(type: number, zone: SharedZone, place: number, beyondUsual: boolean): void {
    if (!isSeeded(this.names, place)) {
      zone.countLearned();
      if (zone.byRate) return;
    }
    if (!hasType(this.names, place, type)) zone.countUnknownType();
    else if (beyondUsual) zone.countAboveUsual();
  }

  zone(number: number): SharedZone {
    this.#zones[number] ??= new SharedZone(this.#memory.zones, number);
    return this.#zones[number];
  }

  /**
   * Whether the name in slot `place` is known with the query type. Looks the name up again before returning false,
   * because another thread may have deleted a name and moved this one.
   */
  #knowsType(question: Question, place: number): boolean {
    if (hasType(this.names, place, question.type)) return true;
    const placeNow = this.names.find(question.hashHigh, question.hashLow);
    return placeNow !== place && placeNow >= 0 && hasType(this.names, placeNow, question.type);
  }

  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  #verdictOn(
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): Verdict {
    const reason = this.reasonToPay(question, zone, place, beyondUsual, nowMs);
    if (reason === 'none') return PASSED;
    const paid =
      reason === 'zoneRate'
        ? this.#takeByRate(zone, place, nowMs)
        : this.#take(question, zone, reason, nowMs);
    if (paid) return PAID[reason];
    if (reason === 'zoneRate') zone.countRefusedByRate();
    if (!this.mayDrop(zone, reason, nowMs)) return WOULD_DROP[reason];
    return REFUSED[this.flags.limitAction][reason];
  }

  /** Returns the token bucket from which queries pay in a zone. `isKnown`: for known names. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  bucketOf(zone: SharedZone, reason: PayReason, isKnown: boolean, nowMs: number): TokenBucket {
    const { payer } = zone;
    if (payer !== undefined) return this.zone(payer).bucket;
    if (reason === 'zoneRate') return isKnown ? zone.learnedBucket : zone.bucket;
    return zone.attacked(nowMs) ? this.flags.bucket : this.flags.calmBucket;
  }

  /**
   * Takes a token for a query in a zone that is judged by query rate. Learned names have a bucket of their own, so that
   * new names of a flood cannot use up their tokens. The longest-known names may use its last tokens. If a policy sets
   * the limit, all names share one bucket, and learned names may use its last tokens.
   */
  #takeByRate(zone: SharedZone, place: number, nowMs: number): boolean {
    if (zone.awaitsRate) return true;
    const isKnown = place >= 0;
    const bucket = this.bucketOf(zone, 'zoneRate', isKnown, nowMs);
    if (zone.payer !== undefined) return bucket.take(nowMs, reserveOf(isKnown, bucket.burst));
    const isPreferred = !isKnown || tenureAt(this.names, place) >= PROVEN_TENURE;
    return bucket.take(nowMs, reserveOf(isPreferred, bucket.burst)) && this.flags.ceiling.take(nowMs);
  }

  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  #take(question: Question, zone: SharedZone, reason: PayReason, nowMs: number): boolean {
    const again = reason !== 'unknownName' || this.#recent.note(question.hashHigh, question.hashLow);
    const bucket = this.bucketOf(zone, reason, reason !== 'unknownName', nowMs);
    if (bucket.take(nowMs, reserveOf(again, bucket.burst))) return true;
    if (bucket === this.flags.calmBucket) zone.countRefusedCalm();
    return false;
  }

  /** Whether the name in slot `place` is known, but not listed by its zone. */
  isLearned(place: number): boolean {
    return place >= 0 && !isSeeded(this.names, place);
  }
}

function perReason(outcome: 'paid' | 'wouldDrop' | 'dropped' | 'truncated'): Record<PayReason, Verdict> {
  return {
    unknownName: verdictOf(outcome, 'unknownName'),
    unknownType: verdictOf(outcome, 'unknownType'),
    aboveUsual: verdictOf(outcome, 'aboveUsual'),
    zoneRate: verdictOf(outcome, 'zoneRate'),
  };
}
