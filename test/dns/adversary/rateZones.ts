/** Floods of zones judged by rate: spread over many zones, or of names that the attacker taught before. */
import { AttackDetector, FIRST_NOT_FORWARDED, ZoneSeed } from '../../../src/dns/detector/index.ts';
import { AnswerKind, nameToWire, QueryType, questionOf } from '../../../src/dns/protocol/index.ts';
import type { DataPlaneName } from '../honest/flows.ts';
import { KEY } from '../honest/names.ts';
import { SimulatedDnsdist, type SimulatedQuery } from '../honest/simulatedDnsdist.ts';
import { RULE } from './world.ts';

const START = Date.UTC(2026, 10, 2);
const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
/** Every twentieth second of a day is simulated. */
const STEP_SECONDS = 20;
/** Queries per second of users, in all zones together. */
const USERS_PER_SECOND = 100;
/** Queries per second of the flood in each zone: below the floor of a limit. */
const FLOOD_PER_ZONE = 90;
const FLOOD_SECONDS = 8;
/** Seconds at the end of the flood in which queries are counted, after bursts are spent. */
const COUNTED_SECONDS = 3;
/** Lowest ceiling of the rate of all zones judged by rate together. */
const LOWEST_CEILING_PER_SECOND = 1000;
/** Queries of a second that the simulated dnsdist decides. Each represents many others. */
const REPRESENTATIVES = 100;

interface RateZonesOptions {
  readonly zones: number;
  /** Queries per second that the servers answer. */
  readonly capacityPerSecond: number;
  readonly dataPlane: DataPlaneName;
}

class RateZones {
  readonly detector = new AttackDetector(KEY, { profile: { maxNames: 5000 } }, START);
  readonly #dataPlane: DataPlaneName;
  /** Decides during the flood. On the first day, every query passes. */
  #dnsdist: SimulatedDnsdist | undefined;
  readonly #zones: number;
  readonly #capacityPerSecond: number;
  #nowMs = START;
  #sent = 0;

  constructor({ zones, capacityPerSecond, dataPlane }: RateZonesOptions) {
    const { detector } = this;
    this.#dataPlane = dataPlane;
    this.#zones = zones;
    this.#capacityPerSecond = capacityPerSecond;
    const seed = new ZoneSeed({ zone: 'app.test' }, { detector });
    seed.add(nameToWire('app.test'), 'A');
    for (let n = 0; n < zones; n++) seed.add(nameToWire(`*.z${n}.app.test`), 'A');
    seed.finish();
    detector.setRule({ ...RULE, mode: 'enabled' }, START);
  }

  /** Simulates a day: after it, the free time has ended, and each zone has a rate below the floor. */
  day(labelOf: (n: number) => string): void {
    for (let elapsed = 0; elapsed < DAY_SECONDS; elapsed += STEP_SECONDS) {
      this.#second(USERS_PER_SECOND, labelOf);
      this.#nowMs += (STEP_SECONDS - 1) * SECOND_MS;
    }
  }

  /** Sends a flood, and returns how many queries per second pass at its end. */
  flood(perSecond: number, labelOf: (n: number) => string): number {
    if (this.#dataPlane === 'dnsdist') this.#dnsdist = new SimulatedDnsdist(this.detector);
    this.#dnsdist?.update(this.#nowMs);
    const passed = Array.from({ length: FLOOD_SECONDS }, () => this.#second(perSecond, labelOf));
    return passed.slice(-COUNTED_SECONDS).reduce((sum, count) => sum + count, 0) / COUNTED_SECONDS;
  }

  /** Sends queries for a second, and returns how many pass. */
  #second(perSecond: number, labelOf: (n: number) => string): number {
    const { detector } = this;
    const asked = Array.from({ length: perSecond }, (_, i): SimulatedQuery => {
      const name = `${labelOf(this.#sent)}.z${this.#sent++ % this.#zones}.app.test`;
      const question = questionOf(name, QueryType.A, KEY);
      const atMs = this.#nowMs + Math.floor((i * SECOND_MS) / perSecond);
      const client = `192.0.${i % 20}.9`;
      return { name, question, client, count: 1, verdict: detector.decide(question, atMs, client), atMs };
    });
    const passing = this.#dnsdist === undefined ? asked.filter(isForwarded) : this.#passingDnsdist(asked);
    for (const { question, atMs } of passing.slice(0, this.#capacityPerSecond))
      detector.learn(question, { kind: AnswerKind.records, network: atMs % 20 }, atMs);
    this.#nowMs += SECOND_MS;
    detector.setUpstreamsHealthy(passing.length <= this.#capacityPerSecond, this.#nowMs);
    detector.tick(this.#nowMs);
    this.#dnsdist?.update(this.#nowMs);
    return passing.length;
  }

  #passingDnsdist(asked: readonly SimulatedQuery[]): SimulatedQuery[] {
    const few = asked.slice(0, REPRESENTATIVES);
    const count = asked.length / few.length;
    const outcomes = this.#dnsdist?.decide(
      few.map((one) => ({ ...one, count })),
      this.#nowMs,
      1,
    );
    const forwarded = (outcomes ?? []).reduce((sum, one) => sum + one.forwarded, 0);
    const share = forwarded / asked.length;
    return asked.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share));
  }
}

const isForwarded = ({ verdict }: SimulatedQuery): boolean => verdict < FIRST_NOT_FORWARDED;
const newLabel = (n: number): string => `r${n.toString(36)}`;

/** Returns how many queries of the flood pass each second, and the ceiling for them. */
export function floodOfManyZones(options: RateZonesOptions) {
  const rateZones = new RateZones(options);
  rateZones.day(newLabel);
  return {
    passedPerSecond: rateZones.flood(options.zones * FLOOD_PER_ZONE, newLabel),
    ceilingPerSecond: Math.max(LOWEST_CEILING_PER_SECOND, USERS_PER_SECOND / 2),
  };
}

const TAUGHT_NAMES = 200;

/**
 * Returns how many queries pass each second of a flood for names that were answered for a day, and the limit of learned
 * names in the zone.
 */
export function floodOfTaughtNames(dataPlane: DataPlaneName) {
  const rateZones = new RateZones({ zones: 1, capacityPerSecond: 1000, dataPlane });
  const taught = (n: number): string => `t${n % TAUGHT_NAMES}`;
  rateZones.day(taught);
  const passedPerSecond = rateZones.flood(5000, taught);
  const { detector } = rateZones;
  const zone = detector.zones.get('z0.app.test') ?? detector.zones.outside;
  return { passedPerSecond, limitPerSecond: zone.shared.learnedBucket.ratePerSecond };
}
