/** The policy for one query, from the shared state, in any thread. What it follows, with all numbers, is in docs/dns-protection.md. */

import { type HashKey, networkHash, type Question } from '../protocol/index.ts';
import { type Access, SharedAccessLists } from './clients/accessLists.ts';
import { ClientAddress } from './clients/clientAddress.ts';
import { HeavyClients } from './clients/heavyClients.ts';
import { KnownClients } from './clients/knownClients.ts';
import { DecisionSamples, factsOf } from './decisionSamples.ts';
import { reserveOf } from './payment.ts';
import { hasType, noteQuery } from './profile/nameNotes.ts';
import { NameTable } from './profile/nameTable.ts';
import { RecentNames } from './recentNames.ts';
import { profileLevel } from './sensitivity.ts';
import { PolicyFlags, type SharedState } from './sharedState.ts';
import { FIRST_REFUSAL, FIRST_UNPAID, type Reason, reasonOf, type Verdict, verdictOf } from './verdict.ts';
import { SharedZone } from './zones/sharedZone.ts';
import { ZoneIndex } from './zones/zoneIndex.ts';

const PASSED = verdictOf('passed', 'none');
/** Why a name has to pay. */
type Paying = Exclude<Reason, 'none' | 'clientRate' | 'accessList' | 'newClient'>;
const CLIENT_TRUNCATED = verdictOf('truncated', 'clientRate');
const CLIENT_WOULD_DROP = verdictOf('wouldDrop', 'clientRate');
/** Of so many queries of new clients that are refused one is answered TC=1: to send takes longer than all else. */
const SLIP = 8;
const NEW_TRUNCATED = verdictOf('truncated', 'newClient');
const NEW_DROPPED = verdictOf('dropped', 'newClient');
const NEW_WOULD_DROP = verdictOf('wouldDrop', 'newClient');
const PAID = perReason('paid');
const WOULD_DROP = perReason('wouldDrop');
const ALLOWED = verdictOf('passed', 'accessList');
const DENIED = verdictOf('dropped', 'accessList');
const REFUSED = { drop: perReason('dropped'), truncate: perReason('truncated') } as const;

/** What a decision was made on. */
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
  /** What was decided about, to be decided about again. */
  readonly decisions: DecisionSamples;
  readonly #memory: SharedState;
  readonly #heavyClients: HeavyClients;
  readonly #client = new ClientAddress();
  readonly #zones: SharedZone[] = [];
  readonly #recent: RecentNames;
  readonly #verdicts: Int32Array;
  readonly #onAlarm: (zone: number, nowMs: number) => void;
  #newRefused = 0;

  /** `onAlarm` hears the number of a zone in which so many unknown names are asked for that the detector must look. */
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

  /**
   * Decides about a query that came over UDP from this address, and counts it. Without one it is nobody's: no limit of a
   * client holds, and no list of networks.
   */
  decide(question: Question, nowMs: number, client?: string): Verdict {
    const verdict = this.listed(question, client) ?? this.#decideByName(question, nowMs, client);
    Atomics.add(this.#verdicts, verdict, 1);
    return verdict;
  }

  /** What the access lists say: networks before names. Undefined where they say nothing. */
  listed(question: Question, client: string | undefined): Verdict | undefined {
    const lists = this.accessLists;
    if (lists.isEmpty) return undefined;
    let access: Access | undefined;
    if (lists.haveNetworks && client !== undefined) {
      this.#client.read(client);
      access = lists.ofClient(this.#client);
    }
    if (access === undefined && lists.haveNames) access = lists.ofName(question);
    if (access === undefined) return undefined;
    return access === 'allow' ? ALLOWED : DENIED;
  }

  #decideByName(question: Question, nowMs: number, client: string | undefined): Verdict {
    const number = this.zoneIndex.find(question);
    const zone = this.zone(number);
    const place = this.names.find(question.hashHigh, question.hashLow);
    const beyondUsual = place >= 0 && noteQuery(this.names, place, nowMs, !zone.attacked(nowMs));
    if (zone.count(place < 0)) {
      zone.suspect(nowMs);
      this.#onAlarm(number, nowMs);
    }
    const byName = this.#verdictOn(question, zone, place, beyondUsual, nowMs);
    // What pays is limited by its bucket already.
    const verdict = byName !== PASSED || client === undefined ? byName : this.#decideByClient(client, nowMs);
    if (verdict >= FIRST_UNPAID) {
      zone.countRefusal(verdict >= FIRST_REFUSAL, place >= 0);
      if (place >= 0 && this.#isBeyondUsual(verdict)) zone.countBeyondUsual();
    }
    if (this.decisions.isNext(nowMs))
      this.#record(question, { number, zone, place, beyondUsual, client, nowMs });
    return verdict;
  }

  /** Not for what would be lost without a threshold, nor for one client that is sent to TCP: a large resolver may be, all the time. */
  #isBeyondUsual(verdict: Verdict): boolean {
    return this.flags.mayDrop === 'always' && reasonOf(verdict) !== 'clientRate';
  }

  #record(question: Question, { number, zone, place, beyondUsual, client, nowMs }: DecidedOn): void {
    const facts = factsOf((level) => this.#reasonAt(level, question, zone, place, beyondUsual, nowMs), {
      isKnown: place >= 0,
      isNewClient: client !== undefined && this.knownClients.isNew(networkHash(client), nowMs),
      zone: number,
    });
    if (client !== undefined) this.#client.read(client);
    const isKnown = client !== undefined && this.#client.isKnown;
    const { hashHigh, hashLow } = question;
    const tag = isKnown ? this.#heavyClients.tagOf(this.#client) : 0;
    this.decisions.record({ facts, hashHigh, hashLow, client: tag }, nowMs);
  }

  /** Whether what is refused is to be sampled: only while an attack lasts. */
  get samplesRefusals(): boolean {
    return this.flags.attack;
  }

  #decideByClient(client: string, nowMs: number): Verdict {
    const { clientLimit, level } = this.flags;
    if (clientLimit === 0) return PASSED;
    const verdict = this.#limitClient(client, clientLimit, nowMs);
    if (verdict !== PASSED || level < profileLevel.very_high) return verdict;
    if (this.knownClients.admits(networkHash(client), nowMs)) return PASSED;
    if (!this.#refusesClients) return NEW_WOULD_DROP;
    return this.#newRefused++ % SLIP === 0 ? NEW_TRUNCATED : NEW_DROPPED;
  }

  get #refusesClients(): boolean {
    const { mode, mayDrop } = this.flags;
    return mode === 'enabled' && mayDrop === 'always';
  }

  /** Beyond its limit a client is told to come over TCP, where it is known for who it is: its address may be forged. */
  #limitClient(client: string, limit: number, nowMs: number): Verdict {
    if (!this.#heavyClients.countAny(limit, nowMs)) return PASSED;
    this.#client.read(client);
    if (!this.#client.isKnown || this.#heavyClients.count(this.#client, nowMs) <= limit) return PASSED;
    return this.#refusesClients ? CLIENT_TRUNCATED : CLIENT_WOULD_DROP;
  }

  /** Why this query would have to pay under the rule in force, `none` when it would not. Changes nothing. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  reasonToPay(
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): Paying | 'none' {
    const { flags } = this;
    if (flags.mode === 'none') return 'none';
    return this.#reasonAt(flags.level, question, zone, place, beyondUsual, nowMs);
  }

  /** The same under any rule with this profile sensitivity. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  #reasonAt(
    level: number,
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): Paying | 'none' {
    if (place < 0) {
      if (zone.byRate) return 'zoneRate';
      if (zone.awaitsNames) return 'none';
      return level > profileLevel.low || zone.attacked(nowMs) ? 'unknownName' : 'none';
    }
    if (level >= profileLevel.high && !this.#knowsType(question, place))
      return zone.awaitsNames ? 'none' : 'unknownType';
    return level >= profileLevel.very_high && beyondUsual ? 'aboveUsual' : 'none';
  }

  /** Before there is a threshold that rests on traffic, only a zone under attack loses anything. */
  mayDrop(zone: SharedZone, nowMs: number): boolean {
    const { mode, mayDrop } = this.flags;
    if (mode !== 'enabled' || mayDrop === 'never') return false;
    return mayDrop === 'always' || zone.attacked(nowMs);
  }

  /** What the threads share of the zone with this number. */
  zone(number: number): SharedZone {
    this.#zones[number] ??= new SharedZone(this.#memory.zones, number);
    return this.#zones[number];
  }

  /** Names may move while another thread forgets one: before a name is said not to have a type, it is looked up again. */
  #knowsType(question: Question, place: number): boolean {
    if (hasType(this.names, place, question.type)) return true;
    const placeNow = this.names.find(question.hashHigh, question.hashLow);
    return placeNow !== place && placeNow >= 0 && hasType(this.names, placeNow, question.type);
  }

  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  #verdictOn(
    question: Question,
    zone: SharedZone,
    place: number,
    beyondUsual: boolean,
    nowMs: number,
  ): Verdict {
    const reason = this.reasonToPay(question, zone, place, beyondUsual, nowMs);
    if (reason === 'none') return PASSED;
    const paid = reason === 'zoneRate' ? zone.bucket.take(nowMs) : this.#pay(question, reason, nowMs);
    if (paid) return PAID[reason];
    if (reason === 'zoneRate') zone.countRefusedByRate();
    if (!this.mayDrop(zone, nowMs)) return WOULD_DROP[reason];
    return REFUSED[this.flags.refuseWith][reason];
  }

  #pay(question: Question, reason: Paying, nowMs: number): boolean {
    const again = reason !== 'unknownName' || this.#recent.note(question.hashHigh, question.hashLow);
    const { bucket } = this.flags;
    return bucket.take(nowMs, reserveOf(again, bucket.burst));
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
