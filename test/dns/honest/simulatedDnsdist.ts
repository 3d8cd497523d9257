/** The dnsdist data plane in a simulation: the detector reads dnstap, and dnsdist decides by the rules it compiles. */
import { BusyNames, compileRules, dnsdistStateOf } from '../../../src/dns/dataplane/dnsdist/index.ts';
import { type AttackDetector, reasonOf, type Verdict } from '../../../src/dns/detector/index.ts';
import { nameToWire, networkHash, type Question } from '../../../src/dns/protocol/index.ts';
import { DnsdistRules, type Queries } from '../support/dnsdistRules.ts';
import type { Outcomes } from './bulk.ts';

const SECOND_MS = 1000;
/** Time between two counts of the sets of types of known names. Counting reads the whole profile. */
const COUNT_TYPES_EVERY_MS = 600 * SECOND_MS;

export interface SimulatedQuery {
  readonly name: string;
  readonly question: Question;
  readonly client: string;
  /** Number of queries that the simulated one stands for, itself included. */
  readonly count: number;
  /** Verdict of the detector, which sees the query in dnstap. */
  readonly verdict: Verdict;
  readonly atMs: number;
}

export class SimulatedDnsdist {
  readonly #detector: AttackDetector;
  readonly #rules = new DnsdistRules();
  readonly #busy = new BusyNames();
  #typeCombinations: readonly number[] = [];
  #countedMs = Number.NEGATIVE_INFINITY;
  #isPublished = false;

  constructor(detector: AttackDetector) {
    this.#detector = detector;
  }

  /** Sends rules as the data plane does each second and when a rule changes. */
  update(nowMs: number): void {
    const detector = this.#detector;
    // Without a file of known names, dnsdist has only the rules of access lists.
    this.#isPublished ||= detector.ready;
    if (!this.#isPublished) return;
    if (nowMs - this.#countedMs >= COUNT_TYPES_EVERY_MS) {
      this.#countedMs = nowMs;
      const { profile } = detector;
      const types = new Set<number>();
      for (const [high, low] of profile.entries()) types.add(profile.types(profile.find(high, low)));
      this.#typeCombinations = [...types].sort((a, b) => a - b);
    }
    const zones = detector.zones.all().filter(({ awaitsNames }) => awaitsNames);
    const known = {
      typeCombinations: this.#typeCombinations,
      busyNames: this.#busy.names(nowMs),
      unseededZones: zones.map(({ name }) => name),
    };
    this.#rules.install(compileRules(dnsdistStateOf(detector, known, nowMs)));
  }

  /** Returns what happens to queries of the same period. */
  decide(asked: readonly SimulatedQuery[], startMs: number, seconds: number): Outcomes[] {
    for (const { verdict, name, atMs } of asked)
      if (reasonOf(verdict) === 'aboveUsual') this.#busy.note(nameToWire(name), atMs);
    return this.#rules.decide(
      asked.map((one) => this.#queriesOf(one)),
      { startMs, seconds },
    );
  }

  #queriesOf({ name, question, client, count, atMs }: SimulatedQuery): Queries {
    const { profile, clients } = this.#detector;
    const place = profile.find(question.hashHigh, question.hashLow);
    return {
      name,
      type: question.type,
      client,
      count,
      knownTypes: place < 0 ? undefined : profile.types(place).toString(16).padStart(4, '0'),
      isLearned: place >= 0 && profile.isLearned(place),
      isKnownNetwork: clients.isKnown(networkHash(client), atMs),
    };
  }
}
