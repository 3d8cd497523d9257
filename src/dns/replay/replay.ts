/** Applies a rule to recorded traffic. The time is that of the recording, not the current time. */
import { type AttackDetector, outcomeOf, reasonOf } from '../detector/index.ts';
import {
  HEADER_BYTES,
  isResponse,
  nameToText,
  Question,
  ReadResult,
  rcodeOf,
  readAnswer,
  readQuery,
} from '../protocol/index.ts';
import type { Datagram } from './pcap.ts';

export interface ReplayResult {
  readonly queries: number;
  readonly unreadable: number;
  readonly answers: number;
  readonly seconds: number;
  readonly attackSeconds: number;
  /**
   * Number of queries by outcome, such as `dropped`. `wouldDrop`: the query passed, because the guard had not learned
   * enough or the rule only monitors.
   */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Number of queries by outcome and reason, such as `dropped unknownName`, without the outcome `passed`. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Number of dropped or truncated queries by name, only for names with a NOERROR answer in the recording. */
  readonly existingLimited: ReadonlyMap<string, number>;
}

const TICK_MS = 1000;
/** Maximum number of ticks after a gap in the recording. In a longer gap, further ticks would have no effect. */
const MAX_TICKS_AT_ONCE = 120;
const NOERROR = 0;
/** Maximum number of names of limited queries, and of existing names, that are stored. A flood has millions. */
const MAX_NAMES_KEPT = 200_000;

/** Replays a recording. `detectorAt` creates a detector for its start time. `port`: port of the DNS servers. */
export async function replay(
  datagrams: AsyncIterable<Datagram>,
  detectorAt: (startMs: number) => Promise<AttackDetector>,
  port: number,
): Promise<ReplayResult> {
  let run: Replay | undefined;
  for await (const datagram of datagrams) {
    run ??= new Replay(await detectorAt(datagram.timeMs), datagram.timeMs);
    run.advance(datagram.timeMs);
    if (datagram.destinationPort === port && !isResponse(datagram.payload)) run.query(datagram);
    else if (datagram.sourcePort === port && isResponse(datagram.payload)) run.answer(datagram);
  }
  return run?.result() ?? NOTHING;
}

const NOTHING: ReplayResult = {
  queries: 0,
  unreadable: 0,
  answers: 0,
  seconds: 0,
  attackSeconds: 0,
  outcomes: {},
  reasons: {},
  existingLimited: new Map(),
};

class Replay {
  readonly #detector: AttackDetector;
  readonly #question = new Question();
  readonly #outcomes: Record<string, number> = {};
  readonly #reasons: Record<string, number> = {};
  readonly #refused = new Map<string, number>();
  readonly #existing = new Set<string>();
  readonly #startMs: number;
  #queries = 0;
  #unreadable = 0;
  #answers = 0;
  #attackSeconds = 0;
  #tickMs: number;
  #lastMs: number;

  constructor(detector: AttackDetector, startMs: number) {
    this.#detector = detector;
    this.#startMs = startMs;
    this.#lastMs = startMs;
    this.#tickMs = startMs + TICK_MS;
  }

  advance(timeMs: number): void {
    this.#lastMs = timeMs;
    this.#tickMs = Math.max(this.#tickMs, timeMs - MAX_TICKS_AT_ONCE * TICK_MS);
    for (; this.#tickMs <= timeMs; this.#tickMs += TICK_MS) {
      this.#detector.tick(this.#tickMs);
      if (this.#detector.attack) this.#attackSeconds++;
    }
  }

  query({ payload, timeMs, source }: Datagram): void {
    this.#queries++;
    if (readQuery(payload, this.#detector.key, this.#question) !== ReadResult.ok) {
      this.#unreadable++;
      return;
    }
    const verdict = this.#detector.decide(this.#question, timeMs, source);
    const outcome = outcomeOf(verdict);
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (outcome === 'passed') return;
    const reason = `${outcome} ${reasonOf(verdict)}`;
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1;
    if (outcome !== 'dropped' && outcome !== 'truncated') return;
    const name = nameToText(payload, HEADER_BYTES);
    const queries = this.#refused.get(name);
    if (queries !== undefined || this.#refused.size < MAX_NAMES_KEPT)
      this.#refused.set(name, (queries ?? 0) + 1);
  }

  answer({ payload, timeMs, destination }: Datagram): void {
    if (!readAnswer(payload, this.#detector.key, this.#question)) return;
    this.#answers++;
    this.#detector.learnAnswer(payload, this.#question, destination, timeMs);
    if (rcodeOf(payload) === NOERROR && this.#existing.size < MAX_NAMES_KEPT)
      this.#existing.add(nameToText(payload, HEADER_BYTES));
  }

  result(): ReplayResult {
    return {
      queries: this.#queries,
      unreadable: this.#unreadable,
      answers: this.#answers,
      seconds: (this.#lastMs - this.#startMs) / 1000,
      attackSeconds: this.#attackSeconds,
      outcomes: this.#outcomes,
      reasons: this.#reasons,
      existingLimited: new Map([...this.#refused].filter(([name]) => this.#existing.has(name))),
    };
  }
}
