import {
  actionValue,
  attributesOf,
  chunkOf,
  FilterMatcher,
  type IndexedBlock,
  JsonWriter,
  type ReadDataChunk,
  type StoredBlock,
  TRACES_PER_CHUNK,
  type TraceFailure,
  traceIndexAt,
  writeTrace,
} from '../../../traces/index.ts';
import type { WantedTraces } from '../../traceIndex/history/params.ts';
import type { ItemFilter, PushItem } from './subscribers.ts';

/** Notice that no node can return the traces of a block. It is sent to all subscribers. */
interface UnavailableNotice extends PushItem {
  readonly isNotice: true;
}

interface LiveTrace extends PushItem {
  readonly isNotice?: never;
  /** Attributes of the trace (16 bits), against which the filters of subscriptions are tested. */
  readonly attributes: number;
  readonly value: bigint;
}

const SIDES = ['from', 'to'] as const;
type Side = (typeof SIDES)[number];

export type LiveItem = LiveTrace | UnavailableNotice;

/** Value of a trace in the subscriber index. A filter with both sides matches traces with one of them. */
const indexValueOf = (side: Side, address: string): string => `${side} ${address}`;

export function wantedTraces({ addresses, direction, filter }: WantedTraces): ItemFilter<LiveItem> {
  const sides = SIDES.filter((side) => direction === 'either' || direction === side);
  const matcher = new FilterMatcher(filter);
  return {
    wanted: [new Set(sides.flatMap((side) => addresses.map((address) => indexValueOf(side, address))))],
    accepts: (item) =>
      item.isNotice === true || (matcher.byAttributes(item.attributes) ?? matcher.byValue(item.value)),
  };
}

const json = new JsonWriter();

/**
 * Yields the traces of a block that have a wanted address, in order. If no node can trace the block, yields a notice.
 * Converts each trace only when it is needed, because the JSON may be thousands of times larger than the stored
 * block. Yields undefined in between, so that other work can run.
 */
export function* liveTraces(
  { block, chunks, postings }: IndexedBlock,
  wants: (value: string) => boolean,
): Generator<LiveItem | undefined> {
  if (block.unavailable !== undefined) {
    yield noticeOf(block, block.unavailable);
    return;
  }
  const found = new Map<number, string[]>();
  for (const side of SIDES) {
    const { terms, positions } = postings[side];
    for (const [i, term] of terms.entries()) {
      yield undefined;
      const value = indexValueOf(side, term);
      if (!wants(value)) continue;
      const index = traceIndexAt(positions[i] ?? 0);
      found.set(index, [...(found.get(index) ?? []), value]);
    }
  }
  if (found.size === 0) return;
  const attributes = attributesOf(chunks, block.traceCount);
  const readData: ReadDataChunk = (_, chunk) => chunks[chunk] ?? new Uint8Array();
  for (const [index, values] of [...found].sort(([a], [b]) => a - b)) {
    const chunk = chunks[chunkOf(index)];
    if (chunk === undefined) break; // cannot happen: each trace is in a chunk (8 consecutive traces) of its block
    json.reset();
    writeTrace(json, chunk, index % TRACES_PER_CHUNK, block.number, readData);
    yield {
      values: [values],
      text: json.written().toString(),
      attributes: attributes[index] ?? 0,
      value: actionValue(chunk, index % TRACES_PER_CHUNK),
    };
  }
}

function noticeOf({ number, hash }: StoredBlock, unavailable: TraceFailure): UnavailableNotice {
  const text = JSON.stringify({ blockNumber: number, blockHash: hash, unavailable });
  return { values: undefined, text, isNotice: true };
}
