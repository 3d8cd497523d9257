import {
  actionValue,
  attributesOf,
  chunkOf,
  FilterTest,
  type IndexedBlock,
  JsonWriter,
  TRACES_PER_CHUNK,
  traceIndexAt,
  writeTrace,
} from '../../traces/index.ts';
import type { WantedTraces } from '../history/params.ts';
import type { Item, Wanted } from './subscribers.ts';

/** A trace of a block, ready to be pushed. */
export interface LiveTrace extends Item {
  /** What filters look at. */
  readonly attributes: number;
  readonly value: bigint;
}

const SIDES = ['from', 'to'] as const;
type Side = (typeof SIDES)[number];

const keyOf = (side: Side, address: string): string => `${side} ${address}`;

export function wantedTraces({ addresses, direction, filter }: WantedTraces): Wanted<LiveTrace> {
  const sides = SIDES.filter((side) => direction === 'either' || direction === side);
  const test = new FilterTest(filter);
  return {
    keys: sides.flatMap((side) => addresses.map((address) => keyOf(side, address))),
    matches: ({ attributes, value }) => test.byAttributes(attributes) ?? test.byValue(value),
  };
}

const json = new JsonWriter();

/** The traces of a block that have a key which is wanted, in order. Where it yields others may have a turn. */
export function* liveTraces(
  { block, chunks, postings }: IndexedBlock,
  wants: (key: string) => boolean,
): Generator<void, LiveTrace[]> {
  const found = new Map<number, string[]>();
  for (const side of SIDES) {
    const { terms, positions } = postings[side];
    for (const [i, term] of terms.entries()) {
      yield;
      const key = keyOf(side, term);
      if (!wants(key)) continue;
      const index = traceIndexAt(positions[i] ?? 0);
      const keys = found.get(index) ?? [];
      found.set(index, [...keys, key]);
    }
  }
  const traces: LiveTrace[] = [];
  if (found.size === 0) return traces;
  const attributes = attributesOf(chunks, block.traceCount);
  for (const [index, keys] of [...found].sort(([a], [b]) => a - b)) {
    yield;
    const chunk = chunks[chunkOf(index)];
    if (chunk === undefined) break; // a block has a chunk for each of its traces
    json.reset();
    writeTrace(json, chunk, index % TRACES_PER_CHUNK, block.number);
    traces.push({
      keys,
      text: json.written().toString(),
      attributes: attributes[index] ?? 0,
      value: actionValue(chunk, index % TRACES_PER_CHUNK),
    });
  }
  return traces;
}
