import type { Order } from '../../../../traces/index.ts';

/** State of a segment in one byte: two flags, and in the bits above them the level of the segment's run plus one. */

const HAS_BLOCKS = 0b01;
const IS_COMPLETE = 0b10;
const LEVEL_SHIFT = 2;

/** Binary logarithm of the number of runs that are merged into one run of the next level. */
const FAN_OUT_BITS = 3;

/** A run of this level covers 8^7 segments of 1,024 blocks, which are two billion blocks. */
export const MAX_LEVEL = 7;

/** Level of a segment that no run covers. Lookups read the posting lists of such a segment. */
export const NO_RUN = -1;

/** Returns the number of the run that covers a segment on a level. */
export const runOf = (level: number, segment: number): number =>
  Math.floor(segment / 2 ** (FAN_OUT_BITS * level));

export const segmentsPerRun = (level: number): number => 2 ** (FAN_OUT_BITS * level);

/** Consecutive segments, from number `first` to `last`, that one run covers, or that no run covers. */
export interface SegmentSpan {
  readonly first: number;
  readonly last: number;
  /** Level of the run. NO_RUN if no run covers the segments. */
  readonly level: number;
}

/** Consecutive segments in which blocks are missing. Either each of them has some blocks, or none of them has any. */
export interface IncompleteSpan {
  readonly first: number;
  readonly last: number;
  readonly hasBlocks: boolean;
}

/** State of each segment: whether it has any block, whether it has all of them, and the level of its run. */
export class SegmentStates {
  #bytes: Uint8Array;
  #spans: SegmentSpan[] | undefined;
  #incomplete: IncompleteSpan[] | undefined;

  constructor(record: Uint8Array = new Uint8Array()) {
    this.#bytes = Uint8Array.from(record);
  }

  /** Number of the highest segment that has ever had a block, plus one. */
  get length(): number {
    return this.#bytes.length;
  }

  hasBlocks(segment: number): boolean {
    return ((this.#bytes[segment] ?? 0) & HAS_BLOCKS) !== 0;
  }

  levelOf(segment: number): number {
    return ((this.#bytes[segment] ?? 0) >>> LEVEL_SHIFT) - 1;
  }

  /**
   * Records that blocks of a segment have changed, so that no run covers it any more. Returns whether its state
   * differs.
   */
  recordChange(
    segment: number,
    { hasBlocks, isComplete }: { hasBlocks: boolean; isComplete: boolean },
  ): boolean {
    return this.#set(segment, (hasBlocks ? HAS_BLOCKS : 0) | (isComplete ? IS_COMPLETE : 0));
  }

  /** Whether any segment is covered by a run. */
  hasRuns(): boolean {
    return this.spans().some(({ level }) => level !== NO_RUN);
  }

  assignRun(segment: number, level: number): void {
    this.#set(
      segment,
      ((this.#bytes[segment] ?? 0) & (HAS_BLOCKS | IS_COMPLETE)) | ((level + 1) << LEVEL_SHIFT),
    );
  }

  encode(): Buffer {
    return Buffer.from(this.#bytes);
  }

  /** Returns all segments that have blocks, as spans in ascending order. */
  spans(): readonly SegmentSpan[] {
    this.#spans ??= joined<SegmentSpan>(
      this.#bytes.length,
      (segment) =>
        this.hasBlocks(segment) ? { first: segment, last: segment, level: this.levelOf(segment) } : undefined,
      (a, b) =>
        a.level === b.level && (a.level === NO_RUN || runOf(a.level, a.first) === runOf(b.level, b.first)),
    );
    return this.#spans;
  }

  /** Returns all segments below `length` with missing blocks, as spans in ascending order. */
  incomplete(): readonly IncompleteSpan[] {
    this.#incomplete ??= joined<IncompleteSpan>(
      this.#bytes.length,
      (segment) =>
        ((this.#bytes[segment] ?? 0) & IS_COMPLETE) !== 0
          ? undefined
          : { first: segment, last: segment, hasBlocks: this.hasBlocks(segment) },
      (a, b) => a.hasBlocks === b.hasBlocks,
    );
    return this.#incomplete;
  }

  #set(segment: number, state: number): boolean {
    if (segment >= this.#bytes.length) {
      const longer = new Uint8Array(segment + 1);
      longer.set(this.#bytes);
      this.#bytes = longer;
    } else if (this.#bytes[segment] === state) return false;
    this.#bytes[segment] = state;
    this.#spans = undefined;
    this.#incomplete = undefined;
    return true;
  }
}

/** Returns the numbers of the segments of a span in the given order. */
export function inOrder({ first, last }: { first: number; last: number }, order: Order): number[] {
  const segments = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return order === 'asc' ? segments : segments.reverse();
}

/** Cuts spans to the segments from `first` to `last`. Returns them in the given order. */
export function spansWithin<S extends { readonly first: number; readonly last: number }>(
  spans: readonly S[],
  { first, last, order }: { readonly first: number; readonly last: number; readonly order: Order },
): S[] {
  const cut = [];
  for (const span of spans)
    if (span.last >= first && span.first <= last)
      cut.push({ ...span, first: Math.max(first, span.first), last: Math.min(last, span.last) });
  return order === 'asc' ? cut : cut.reverse();
}

function joined<S extends { readonly first: number; readonly last: number }>(
  segments: number,
  spanOf: (segment: number) => S | undefined,
  isSame: (a: S, b: S) => boolean,
): S[] {
  const spans: S[] = [];
  for (let segment = 0; segment < segments; segment++) {
    const span = spanOf(segment);
    if (span === undefined) continue;
    const last = spans.at(-1);
    if (last !== undefined && last.last === segment - 1 && isSame(last, span))
      spans[spans.length - 1] = { ...last, last: segment };
    else spans.push(span);
  }
  return spans;
}
