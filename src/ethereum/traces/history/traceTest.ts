import {
  hasFailed,
  isInternal,
  isRoot,
  kindIn,
  TRACE_KINDS,
  type TraceAttributes,
  valueBits,
  valueBitsIn,
} from '../chunk/attributes.ts';
import type { HistoryFilter } from './query.ts';
import { COST, type HistoryReader, type WorkLeft } from './reader.ts';

const CALL = TRACE_KINDS.indexOf('call');
const ALL_KINDS = 2 ** TRACE_KINDS.length - 1;

/** Whether traces are what a filter asks for: told by their attributes, and read only where their value is as long as the least. */
export class TraceTest {
  readonly #reader: HistoryReader;
  readonly #work: WorkLeft;
  readonly #kinds: number;
  readonly #minValue: bigint;
  readonly #minBits: number;
  readonly #internal: boolean | undefined;
  readonly #failed: boolean | undefined;
  readonly #callsCarryValue: boolean;
  /** Every trace is. */
  readonly #isOpen: boolean;
  #blockNumber = -1;
  #attributes: ArrayLike<TraceAttributes> = [];

  constructor(filter: HistoryFilter, reader: HistoryReader, work: WorkLeft) {
    const { kinds, minValue = 0n, internal, failed, callsCarryValue = false } = filter;
    this.#reader = reader;
    this.#work = work;
    this.#kinds =
      kinds === undefined
        ? ALL_KINDS
        : kinds.reduce((bits, kind) => bits | (1 << TRACE_KINDS.indexOf(kind)), 0);
    this.#minValue = minValue;
    this.#minBits = valueBits(minValue);
    this.#internal = internal;
    this.#failed = failed;
    this.#callsCarryValue = callsCarryValue;
    const isEither = internal === undefined && failed === undefined;
    this.#isOpen = this.#kinds === ALL_KINDS && minValue === 0n && isEither && !callsCarryValue;
  }

  passes(blockNumber: number, traceIndex: number): boolean {
    if (this.#isOpen) return true;
    const attributes = this.attributesOf(blockNumber, traceIndex);
    if (((this.#kinds >>> kindIn(attributes)) & 1) === 0) return false;
    if (this.#failed !== undefined && hasFailed(attributes) !== this.#failed) return false;
    if (this.#internal !== undefined && !(this.#internal ? isInternal : isRoot)(attributes)) return false;
    if (this.#callsCarryValue && !this.#carriesValue(attributes, blockNumber, traceIndex)) return false;
    if (this.#minBits === 0) return true;
    const bits = valueBitsIn(attributes);
    if (bits !== this.#minBits) return bits > this.#minBits;
    return this.valueAt(blockNumber, traceIndex) >= this.#minValue;
  }

  /** What is no call passes. The value of a call that failed is not in its attributes, as it did not move. */
  #carriesValue(attributes: TraceAttributes, blockNumber: number, traceIndex: number): boolean {
    if (kindIn(attributes) !== CALL || valueBitsIn(attributes) > 0) return true;
    return hasFailed(attributes) && this.valueAt(blockNumber, traceIndex) > 0n;
  }

  attributesOf(blockNumber: number, traceIndex: number): TraceAttributes {
    if (blockNumber !== this.#blockNumber) {
      this.#work.spend(COST.attributes);
      this.#attributes = this.#reader.attributes(blockNumber, this.#work);
      this.#blockNumber = blockNumber;
    }
    return this.#attributes[traceIndex] ?? 0;
  }

  valueAt(blockNumber: number, traceIndex: number): bigint {
    this.#work.spend(COST.chunk);
    return this.#reader.value(blockNumber, traceIndex);
  }
}
