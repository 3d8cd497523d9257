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

const CALL = TRACE_KINDS.indexOf('call');
const ALL_KINDS = 2 ** TRACE_KINDS.length - 1;

/** Matches a trace's attributes and value against a filter. Does no reads. */
export class FilterMatcher {
  /** True if every trace matches. */
  readonly isOpen: boolean;
  readonly #kinds: number;
  readonly #minBits: number;
  /** Minimum value that a trace must have if its attributes do not decide. */
  readonly #leastValue: bigint;
  readonly #internal: boolean | undefined;
  readonly #failed: boolean | undefined;
  readonly #callsCarryValue: boolean;

  constructor({ kinds, minValue = 0n, internal, failed, callsCarryValue }: HistoryFilter) {
    this.#kinds =
      kinds === undefined
        ? ALL_KINDS
        : kinds.reduce((bits, kind) => bits | (1 << TRACE_KINDS.indexOf(kind)), 0);
    this.#minBits = valueBits(minValue);
    this.#leastValue = minValue > 0n ? minValue : 1n;
    this.#internal = internal;
    this.#failed = failed;
    this.#callsCarryValue = callsCarryValue === true;
    const isEither = internal === undefined && failed === undefined;
    this.isOpen = this.#kinds === ALL_KINDS && minValue === 0n && isEither && !this.#callsCarryValue;
  }

  /** Returns undefined if the attributes do not decide: call `byValue` with the trace's value. */
  byAttributes(attributes: TraceAttributes): boolean | undefined {
    if (((this.#kinds >>> kindIn(attributes)) & 1) === 0) return false;
    if (this.#failed !== undefined && hasFailed(attributes) !== this.#failed) return false;
    if (this.#internal !== undefined && !(this.#internal ? isInternal : isRoot)(attributes)) return false;
    const bits = valueBitsIn(attributes);
    if (bits !== this.#minBits) return bits > this.#minBits;
    if (bits > 0) return undefined;
    if (!this.#callsCarryValue || kindIn(attributes) !== CALL) return true;
    // The attributes of a failed call contain no value, because none was transferred.
    return hasFailed(attributes) ? undefined : false;
  }

  byValue(value: bigint): boolean {
    return value >= this.#leastValue;
  }
}
