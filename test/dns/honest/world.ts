/** A guard whose clock the test sets, and legitimate traffic with unusual names, simulated query by query. */
import {
  AttackDetector,
  type DetectorOptions,
  FIRST_NOT_FORWARDED,
  type Learned,
  type ProfileEntry,
  ZoneSeed,
} from '../../../src/dns/detector/index.ts';
import {
  AnswerKind,
  nameToWire,
  networkHash,
  QueryType,
  Question,
  queryPacket,
  questionOf,
  readQuestionSection,
} from '../../../src/dns/protocol/index.ts';
import type { Rule } from '../../../src/rules/index.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const START_MS = Date.UTC(2026, 10, 2);
const SECOND_MS = 1000;
export const MINUTE = 60;
export const HOUR = 60 * MINUTE;

const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-01T10:00:00.000000+00:00',
  modified_on: '2026-11-01T10:00:00.000000+00:00',
};

/** One query, and the kind of answer that the server returns. */
export interface Asked {
  readonly question: Question;
  readonly kind: number;
}

export interface Traffic {
  readonly seconds: number;
  readonly perSecond: number;
  /** Returns query number `n` of this world. */
  readonly ask: (n: number) => Asked;
  readonly client?: (n: number) => string;
}

export interface WorldOptions {
  readonly rule?: Partial<Rule>;
  readonly detector?: Partial<DetectorOptions>;
  /** Owner names of seeded zones, by zone. */
  readonly seeds?: Readonly<Record<string, readonly string[]>>;
}

export class HonestWorld {
  detector: AttackDetector;
  nowMs = START_MS;
  isOverloaded = false;
  #sent = 0;
  #rule: Rule;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.#rule = { ...RULE, ...options.rule };
    this.detector = this.#start();
    this.#seed();
  }

  /** The servers behind the guard no longer answer in time, so that limits are learned ones without headroom. */
  overload(): void {
    this.isOverloaded = true;
    this.detector.setUpstreamsHealthy(false, this.nowMs);
    this.detector.tick(this.nowMs);
  }

  setMode(mode: Rule['mode']): void {
    this.#rule = { ...this.#rule, mode };
    this.detector.setRule(this.#rule, this.nowMs);
  }

  /** Sends queries and returns how many of them were not refused. */
  run({ seconds, perSecond, ask, client = clientOf }: Traffic): number {
    const { detector } = this;
    let answered = 0;
    for (let second = 0; second < seconds; second++) {
      for (let i = 0; i < perSecond; i++) {
        const n = this.#sent++;
        const { question, kind } = ask(n);
        const from = client(n);
        const atMs = this.nowMs + Math.floor((i * SECOND_MS) / perSecond);
        if (detector.decide(question, atMs, from) >= FIRST_NOT_FORWARDED) continue;
        answered++;
        detector.learn(question, { kind, network: networkHash(from) }, atMs);
      }
      this.nowMs += SECOND_MS;
      detector.setUpstreamsHealthy(!this.isOverloaded, this.nowMs);
      detector.tick(this.nowMs);
    }
    return answered;
  }

  /** Stores the learned state, and restarts from it five seconds later. `changed` edits the stored state. */
  restart(changed: (learned: Learned) => Learned = (learned) => learned): void {
    const stored = changed(JSON.parse(JSON.stringify(this.detector.learned(this.nowMs))) as Learned);
    const entries: ProfileEntry[] = [...this.detector.profile.entries()];
    this.nowMs += 5 * SECOND_MS;
    this.detector = this.#start();
    this.detector.restore(stored, this.nowMs);
    this.detector.restoreNames(entries);
    for (const zone of Object.keys(this.#options.seeds ?? {})) this.detector.expectSeed(zone);
    this.#seed();
    this.detector.setRule(this.#rule, this.nowMs);
    if (this.isOverloaded) this.overload();
  }

  #start(): AttackDetector {
    const options = { profile: { maxNames: 5000 }, ...this.#options.detector };
    const detector = new AttackDetector(KEY, options, this.nowMs);
    detector.setRule(this.#rule, this.nowMs);
    return detector;
  }

  #seed(): void {
    for (const [zone, owners] of Object.entries(this.#options.seeds ?? {})) {
      const seed = new ZoneSeed({ zone }, { detector: this.detector });
      for (const owner of owners) seed.add(nameToWire(owner), 'A');
      seed.finish();
    }
  }
}

/** Twenty clients, each in its own network, like resolvers. */
const CLIENTS = Array.from({ length: 20 }, (_, n) => `192.0.${n}.9`);
const clientOf = (n: number): string => CLIENTS[n % CLIENTS.length] ?? '';

/** Returns queries for a fixed set of names, hashed once. */
export function namesOf(
  names: readonly string[],
  kind: number,
  type: number = QueryType.A,
): (n: number) => Asked {
  const asked = names.map((name) => ({ question: questionOf(name, type, KEY), kind }));
  // A stride without a common factor with usual list lengths, so that names and clients are mixed.
  return (n) => asked[(n * 7919) % asked.length] as Asked; // the list is not empty
}

/** Returns queries for new names below `zone`, each queried once. */
export function newNames(zone: string, kind: number, prefix = 'r'): (n: number) => Asked {
  const question = new Question();
  return (n) => {
    const name = nameToWire(`${prefix}${n.toString(36)}.${zone}`);
    readQuestionSection(queryPacket(name, QueryType.A), KEY, question);
    return { question, kind };
  };
}

/** Mixes queries: `percentNew` percent are for names that do not exist. */
export function mixed(
  percentNew: number,
  known: (n: number) => Asked,
  fresh: (n: number) => Asked,
): (n: number) => Asked {
  return (n) => ((n * 37) % 100 < percentNew ? fresh(n) : known(n));
}

export const { records, nxdomain } = AnswerKind;
