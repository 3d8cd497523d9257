import type { Order } from '../../../../traces/index.ts';

/** What is known of each segment without reading it, in one byte: its lowest two bits, and above them the level of its run and one. */

const HAS_BLOCKS = 0b01;
const IS_COMPLETE = 0b10;
const LEVEL_SHIFT = 2;

/** Runs of one level that make one of the next. */
const FAN_OUT_BITS = 3;

/** 8^7 segments of 1,024 blocks: two billion blocks. */
export const MAX_LEVEL = 7;

/** The level of a segment that is in no run: it has to be looked at itself. */
export const NO_RUN = -1;

/** The run of a level that a segment is in. */
export const runOf = (level: number, segment: number): number =>
  Math.floor(segment / 2 ** (FAN_OUT_BITS * level));

export const segmentsPerRun = (level: number): number => 2 ** (FAN_OUT_BITS * level);

/** Segments in a row that are looked up in one way. */
export interface Span {
  readonly first: number;
  readonly last: number;
  /** NO_RUN for segments that are looked at one by one. */
  readonly level: number;
}

/** Segments in a row that lack blocks. */
export interface IncompleteSpan {
  readonly first: number;
  readonly last: number;
  /** Whether any of their blocks are there. */
  readonly hasBlocks: boolean;
}

/** Which segments have blocks, which of them have all, and by which run of the directory their addresses are found. */
export class SegmentStates {
  #bytes: Uint8Array;
  #spans: Span[] | undefined;
  #incomplete: IncompleteSpan[] | undefined;

  constructor(record: Uint8Array = new Uint8Array()) {
    this.#bytes = Uint8Array.from(record);
  }

  /** One past the highest segment that has ever had a block. */
  get length(): number {
    return this.#bytes.length;
  }

  hasBlocks(segment: number): boolean {
    return ((this.#bytes[segment] ?? 0) & HAS_BLOCKS) !== 0;
  }

  levelOf(segment: number): number {
    return ((this.#bytes[segment] ?? 0) >>> LEVEL_SHIFT) - 1;
  }

  /** The blocks of a segment changed: what a run says of it is of no use any more. True where that is news. */
  changed(segment: number, { hasBlocks, isComplete }: { hasBlocks: boolean; isComplete: boolean }): boolean {
    return this.#set(segment, (hasBlocks ? HAS_BLOCKS : 0) | (isComplete ? IS_COMPLETE : 0));
  }

  inRun(segment: number, level: number): void {
    this.#set(
      segment,
      ((this.#bytes[segment] ?? 0) & (HAS_BLOCKS | IS_COMPLETE)) | ((level + 1) << LEVEL_SHIFT),
    );
  }

  encode(): Buffer {
    return Buffer.from(this.#bytes);
  }

  /** The spans of all segments that have blocks, ascending. */
  spans(): readonly Span[] {
    this.#spans ??= joined<Span>(
      this.#bytes.length,
      (segment) =>
        this.hasBlocks(segment) ? { first: segment, last: segment, level: this.levelOf(segment) } : undefined,
      (a, b) =>
        a.level === b.level && (a.level === NO_RUN || runOf(a.level, a.first) === runOf(b.level, b.first)),
    );
    return this.#spans;
  }

  /** The spans of all segments that lack blocks, ascending, without those behind the last segment. */
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

/** The segments of a span in an order. */
export function inOrder({ first, last }: { first: number; last: number }, order: Order): number[] {
  const segments = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return order === 'asc' ? segments : segments.reverse();
}

/** Spans in an order, as far as they lie between two segments. */
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
