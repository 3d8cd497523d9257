/**
 * Runs a world around a detector whose clock the test sets. Some queries of each step are decided and learned one by
 * one; each represents many others, which are only counted (bulk.ts). With `representatives: Infinity`, every query is
 * decided.
 */
import {
  AttackDetector,
  FIRST_NOT_FORWARDED,
  FIRST_TRUNCATION,
  type Verdict,
} from '../../../src/dns/detector/index.ts';
import { networkHash, Question } from '../../../src/dns/protocol/index.ts';
import { Random } from '../../support/random.ts';
import { type Attack, OTHER_ZONE } from './attacks.ts';
import { Bulk, type Group, type Outcomes } from './bulk.ts';
import { type Combination, RULE } from './combinations.ts';
import { type DataPlaneName, type Flow, HOUR, MINUTE, type World } from './flows.ts';
import { AskedNames, KEY } from './names.ts';
import { policiesFor } from './policies.ts';
import { seedZones } from './seedZones.ts';
import { SimulatedDnsdist } from './simulatedDnsdist.ts';
import { type Period, Tally } from './tally.ts';

const START_MS = Date.UTC(2026, 10, 2);
const SECOND_MS = 1000;
const MAX_NAMES = 20_000;
/** Time after the last query of an attack for which the guard still considers the zone attacked. */
const HOLD_SECONDS = 30;
/** Queries per flow and step that are simulated one by one. */
const REPRESENTATIVES = 4;
/** Flows with at most so many queries in a step are simulated query by query. */
const FEW = 10;
/** Lengths of a step: while traffic changes, while queries are limited, and otherwise. */
const FINE = 1;
const MEDIUM = 10;
const COARSE = 60;
/**
 * Each second is simulated in the first minute, so that all networks are seen, and in the first minute of the enabled
 * rule, in which they become known.
 */
const FIRST_MINUTES = [
  [-HOUR, -HOUR + MINUTE],
  [0, MINUTE],
] as const;
/** Servers count as unhealthy if they answer a smaller share of the queries. */
const HEALTHY_SHARE = 0.98;

export interface SimulationOptions {
  readonly world: World;
  readonly combination: Combination;
  readonly attacks?: readonly Attack[];
  readonly representatives?: number;
  readonly dataPlane?: DataPlaneName;
  /** Queries per second that the servers answer. */
  readonly capacityPerSecond?: number;
  /** Time of the first second of monitoring. */
  readonly startMs?: number;
}

/** A query that is simulated, with its verdict. */
interface Asked {
  readonly flow: Flow;
  readonly names: AskedNames;
  readonly number: number;
  readonly question: Question;
  readonly zone: number;
  readonly verdict: Verdict;
  readonly isKnown: boolean;
  readonly client: string;
  readonly rest: number;
  readonly group: Group | undefined;
  readonly atMs: number;
  /** Outcomes of the query and of those that it represents, if dnsdist decides them. */
  dnsdist?: Outcomes;
}

export class Simulation {
  readonly detector: AttackDetector;
  readonly tally = new Tally();
  /** Seconds since the rule was enabled. */
  second = -HOUR;
  readonly #options: Required<SimulationOptions>;
  readonly #bulk: Bulk;
  readonly #dnsdist: SimulatedDnsdist | undefined;
  readonly #random = new Random(1);
  readonly #flows: readonly { readonly flow: Flow; readonly names: AskedNames; carried: number }[];
  readonly #questions: Question[] = [];
  readonly #times: readonly number[];
  /** Share of the forwarded queries that the servers answer: of this step, or of the one before. */
  #answeredShare = 1;
  #limitedUntil = Number.NEGATIVE_INFINITY;
  #forged = 0;

  constructor(options: SimulationOptions) {
    this.#options = {
      attacks: [],
      representatives: REPRESENTATIVES,
      dataPlane: 'embedded',
      capacityPerSecond: 10_000,
      startMs: START_MS,
      ...options,
    };
    const { world, attacks, combination } = this.#options;
    this.detector = new AttackDetector(KEY, { profile: { maxNames: MAX_NAMES } }, this.nowMs);
    this.#bulk = new Bulk(this.detector, this.#random);
    if (this.#options.dataPlane === 'dnsdist') this.#dnsdist = new SimulatedDnsdist(this.detector);
    this.#flows = [...world.flows, ...attacks.map((attack) => attack.flow)].map((flow) => ({
      flow,
      names: new AskedNames(flow.names(), flow.type),
      carried: 0,
    }));
    const intervals = [
      ...world.changes,
      ...attacks.map(({ from, to }) => [from, to + HOLD_SECONDS] as const),
    ];
    this.#times = [0, ...intervals.flat()].sort((a, b) => a - b);
    seedZones(this.detector, world.seeds);
    for (const zone of [...world.known, OTHER_ZONE]) this.detector.zones.add(zone);
    this.detector.setRule({ ...RULE, ...combination }, this.nowMs);
  }

  get dataPlane(): DataPlaneName {
    return this.#options.dataPlane;
  }

  get nowMs(): number {
    return this.#options.startMs + (this.second + HOUR) * SECOND_MS;
  }

  /** Runs until this second. The rule is enabled, and policies are set, at second 0. */
  run(until: number): void {
    while (this.second < until) {
      if (this.second === 0) this.#enable();
      this.#step(Math.min(this.#stepSeconds(), until - this.second));
    }
  }

  periodOf(zone: string): Period {
    const { second } = this;
    if (second < 0) return 'monitoring';
    const current = this.#options.attacks.find(
      ({ from, to }) => second >= from && second < to + HOLD_SECONDS,
    );
    if (current === undefined) return 'quiet';
    return current.zone === zone ? 'here' : 'elsewhere';
  }

  #enable(): void {
    const { world, combination } = this.#options;
    this.detector.setZonePolicies(policiesFor(world), this.nowMs);
    this.detector.setRule({ ...RULE, ...combination, mode: 'enabled' }, this.nowMs);
    this.#dnsdist?.update(this.nowMs);
  }

  #stepSeconds(): number {
    const { second } = this;
    const { world, attacks, representatives } = this.#options;
    const isChanging =
      FIRST_MINUTES.some(([from, to]) => second >= from && second < to) ||
      attacks.some(({ from, to }) => second >= from && second < to + HOLD_SECONDS) ||
      world.changes.some(([from, to]) => second >= from && second < to);
    if (isChanging || representatives === Number.POSITIVE_INFINITY) return FINE;
    const next = this.#times.find((time) => time > second) ?? Number.POSITIVE_INFINITY;
    return Math.min(second < this.#limitedUntil ? MEDIUM : COARSE, next - second);
  }

  #step(seconds: number): void {
    const { nowMs } = this;
    const asked = this.#ask(seconds);
    this.#bulk.settle(nowMs, seconds);
    this.#decideByDnsdist(asked, seconds);
    this.#answeredShare = this.#shareAnswered(asked, seconds);
    for (const one of asked) if (this.#isDecidedLater(one)) this.#finish(one);
    if (this.#options.representatives !== Number.POSITIVE_INFINITY) this.#noteClients(seconds);
    this.second += seconds;
    this.detector.setUpstreamsHealthy(this.#answeredShare >= HEALTHY_SHARE, this.nowMs);
    this.detector.tick(this.nowMs);
    this.#dnsdist?.update(this.nowMs);
  }

  /** Whether a query is decided together with the others of its step. */
  #isDecidedLater({ group }: Asked): boolean {
    return group !== undefined || this.#dnsdist !== undefined;
  }

  #decideByDnsdist(asked: readonly Asked[], seconds: number): void {
    const queries = asked.map(({ names, number, question, client, rest, verdict, atMs }) => {
      const name = names.source.text(number);
      return { name, question, client, count: 1 + rest, verdict, atMs };
    });
    const outcomes = this.#dnsdist?.decide(queries, this.nowMs, seconds);
    for (const [index, one] of asked.entries()) if (outcomes?.[index]) one.dnsdist = outcomes[index];
  }

  /** Decides the simulated queries of a step, in the order of their times. */
  #ask(seconds: number): Asked[] {
    const planned: { flow: Flow; names: AskedNames; rest: number; at: number }[] = [];
    for (const entry of this.#flows) {
      const { flow, names } = entry;
      const wanted = flow.perSecond(this.second) * seconds + entry.carried;
      const count = Math.floor(wanted);
      entry.carried = wanted - count;
      const { representatives } = this.#options;
      const isExact = count <= FEW || (seconds === FINE && flow.isExact(this.second));
      // Steps of medium length are many.
      const most = isExact
        ? count
        : Math.min(count, seconds === MEDIUM ? representatives / 2 : representatives);
      for (let n = 0; n < most; n++)
        planned.push({ flow, names, rest: count / most - 1, at: (n + this.#random.next()) / most });
    }
    planned.sort((a, b) => a.at - b.at);
    return planned.map((plan, index) => {
      // In longer steps, all are decided at the beginning, because tokens are taken second by second after that.
      const offsetMs = seconds === 1 ? Math.floor(plan.at * (SECOND_MS - 1)) : 0;
      const asked = this.#decide(plan, this.nowMs + offsetMs, index);
      if (!this.#isDecidedLater(asked)) this.#finish(asked);
      return asked;
    });
  }

  #decide(
    { flow, names, rest }: { flow: Flow; names: AskedNames; rest: number },
    atMs: number,
    index: number,
  ): Asked {
    const number = names.source.next(this.#random, this.second);
    this.#questions[index] ??= new Question();
    const question = names.question(number, this.#questions[index]);
    const { detector } = this;
    const place = detector.profile.find(question.hashHigh, question.hashLow);
    const isKnown = place >= 0;
    const isLearned = isKnown && detector.profile.isLearned(place);
    const client = flow.clients === undefined ? this.#forgedClient() : this.#random.pick(flow.clients);
    const zone = detector.zoneIndex.find(question);
    const isAgain = !names.source.isNew && names.wasAnswered(number);
    const verdict = detector.decide(question, atMs, client);
    const group = this.#bulk.add(
      { question, zone, verdict, isKnown, isLearned, isAgain, client, rest },
      atMs,
    );
    return { flow, names, number, question, zone, verdict, isKnown, client, rest, group, atMs };
  }

  #forgedClient(): string {
    const n = Math.imul(++this.#forged, 0x9e3779b1) >>> 0;
    return `${20 + ((n >>> 24) % 80)}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.9`;
  }

  /** Records the networks of users, because only some of their queries are simulated. */
  #noteClients(seconds: number): void {
    for (const { flow, names } of this.#flows) {
      if (flow.clients === undefined || names.source.isNew) continue;
      const queriesPerClient = (flow.perSecond(this.second) * seconds) / flow.clients.length;
      for (const client of flow.clients)
        if (this.#random.chance(Math.min(1, queriesPerClient)))
          this.detector.clients.note(networkHash(client), this.nowMs);
    }
  }

  /** Returns which share of the forwarded queries the servers answer. */
  #shareAnswered(asked: readonly Asked[], seconds: number): number {
    const { world, capacityPerSecond } = this.#options;
    const { outage } = world;
    if (outage !== undefined && this.second >= outage[0] && this.second < outage[1]) return 0;
    const forwarded = asked.reduce((sum, one) => sum + outcomesOf(one).forwarded, 0);
    return Math.min(1, (capacityPerSecond * seconds) / Math.max(1, forwarded));
  }

  /** Counts the outcomes of a simulated query and of those that it represents, and learns from the answers. */
  #finish(asked: Asked): void {
    const { flow, names, number, question, isKnown, client, atMs, zone } = asked;
    const answeredShare = this.#answeredShare;
    const outcomes = outcomesOf(asked);
    const hour = Math.floor(this.second / HOUR);
    if (!flow.isAttack) this.#count(asked, outcomes, hour);
    const forwardedShare = outcomes.forwarded / (1 + asked.rest);
    const isAnswered = this.#random.chance(forwardedShare * answeredShare);
    if (isAnswered) {
      const network = networkHash(client);
      this.detector.learn(question, { kind: flow.kind, network }, atMs);
      names.noteAnswer(number, hour);
    }
    if (asked.group === undefined) return;
    const count = outcomes.forwarded * answeredShare - (isAnswered ? 1 : 0);
    const isFirst = names.source.isNew;
    this.#bulk.countAnswers(zone, { kind: flow.kind, isKnown, isFirst, count }, atMs);
  }

  #count(asked: Asked, outcomes: Outcomes, hour: number): void {
    const { flow, names, number, question, client, atMs } = asked;
    const isTcpRefused =
      // dnsdist passes queries over TCP.
      asked.dnsdist === undefined &&
      outcomes.truncated > 0 &&
      this.detector.overTcp.decide(question, { address: client, client }, atMs) >= FIRST_NOT_FORWARDED;
    const isRecurring = names.isRecurring(number, hour);
    this.tally.of(flow.zone, this.periodOf(flow.zone)).add(outcomes, { isRecurring, isTcpRefused });
    if (outcomes.dropped > 0) this.#limitedUntil = this.second + MINUTE;
  }
}

/** Returns the outcomes of a simulated query and of those that it represents. */
function outcomesOf({ verdict, group, rest, dnsdist }: Asked): Outcomes {
  if (dnsdist !== undefined) return dnsdist;
  const outcomes = { forwarded: 0, truncated: 0, dropped: 0 };
  if (group !== undefined) {
    outcomes.forwarded += (1 + rest) * group.share;
    outcomes[group.otherwise] += (1 + rest) * (1 - group.share);
    return outcomes;
  }
  const own =
    verdict < FIRST_NOT_FORWARDED ? 'forwarded' : verdict < FIRST_TRUNCATION ? 'dropped' : 'truncated';
  outcomes[own]++;
  return outcomes;
}
