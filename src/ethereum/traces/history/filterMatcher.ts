import {
  hasFailed,
  isInternal,
  isRoot,
  kindIn,
  TRACE_KINDS,
  type TraceAttributes,
  typeOfKind,
  valueBits,
  valueBitsIn,
} from '../chunk/attributes.ts';
import type { HistoryFilter } from './query.ts';

const CALL = TRACE_KINDS.indexOf('call');
const ALL_KINDS = 2 ** TRACE_KINDS.length - 1;

/** Returns the indexes in TRACE_TYPES of the types of traces that a filter can match. */
export const typesOf = ({ kinds = TRACE_KINDS }: HistoryFilter): number[] => [
  ...new Set(kinds.map((kind) => typeOfKind(TRACE_KINDS.indexOf(kind)))),
];

/** Matches a trace's attributes and value against a filter. Reads nothing from the index. */
export class FilterMatcher {
  /** True if the filter excludes no traces. */
  readonly isOpen: boolean;
  readonly #kinds: number;
  readonly #minBits: number;
  /** Minimum value in wei of a matching trace, for traces whose attributes alone do not show whether they match. */
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

  /**
   * Returns whether a trace with these attributes matches; undefined if that depends on the value of the trace, which
   * the caller must then pass to `byValue`.
   */
  byAttributes(attributes: TraceAttributes): boolean | undefined {
    if (((this.#kinds >>> kindIn(attributes)) & 1) === 0) return false;
    if (this.#failed !== undefined && hasFailed(attributes) !== this.#failed) return false;
    if (this.#internal !== undefined && !(this.#internal ? isInternal : isRoot)(attributes)) return false;
    const bits = valueBitsIn(attributes);
    if (bits !== this.#minBits) return bits > this.#minBits;
    if (bits > 0) return undefined;
    if (!this.#callsCarryValue || kindIn(attributes) !== CALL) return true;
    // Attributes contain the transferred value. A failed call transfers none, so its own value must be read.
    return hasFailed(attributes) ? undefined : false;
  }

  byValue(value: bigint): boolean {
    return value >= this.#leastValue;
  }
}
