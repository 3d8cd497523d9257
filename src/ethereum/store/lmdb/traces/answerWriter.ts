import {
  AnswerTooLargeError,
  blockAt,
  JsonWriter,
  MAX_TRACES_PER_BLOCK,
  type Merged,
  NOWHERE,
  type PartOfList,
  type Positions,
  type TextCache,
  TRACES_PER_CHUNK,
  traceIndexAt,
  type Visitor,
  writeTrace,
} from '../../../traces/index.ts';
import type { IndexState } from './indexState.ts';

const OPEN_BRACKET = new Uint8Array([0x5b]);
const CLOSE_BRACKET = new Uint8Array([0x5d]);
const COMMA = new Uint8Array([0x2c]);

/**
 * Traces in a row whose text is kept in one piece, from multiples of this on: an answer of 200 traces of one address, or of
 * one block, is then a dozen copies and not two hundred.
 */
const GROUP_TRACES = 16;
/** A group whose text grows past this is left alone: nobody shall wait for 16 large traces where one was asked for. */
const MAX_GROUP_BYTES = 512 * 1024;

/** A list that gives fewer traces on average is not worth whole groups, of which the rest would be written for nothing. */
const MIN_TRACES_FOR_GROUPS = 16;

/** Room in a key for the groups of one list: those of the largest block, and of any list that a chain could make. */
const GROUPS_PER_LIST = 2 ** 24;

/** Single traces have keys from 0 up. The group must be below GROUPS_PER_LIST: the next list's keys begin there. */
const groupKey = (list: Positions, group: number): number => -1 - (list.id * GROUPS_PER_LIST + group);

/** Writes traces as a JSON array, from texts that are kept where there are any. */
export class AnswerWriter {
  readonly #state: IndexState;
  readonly #texts: TextCache;
  readonly #group = new JsonWriter();
  readonly #ends = new Uint32Array(GROUP_TRACES);
  readonly #visitor: Visitor = {
    merged: (segment, merged) => {
      this.#segment = segment;
      this.#comesBack = true;
      this.#writeMerged(merged);
    },
    run: (segment, part) => {
      this.#segment = segment;
      this.#comesBack = false;
      this.#writeRun(part);
    },
  };
  /** While traces are visited: where they go, how large that may get, and the segment that they are of. */
  #json: JsonWriter = this.#group;
  #maxBytes = 0;
  #segment = 0;
  /** Whether the answer comes back to a group that it has written some of. */
  #comesBack = false;

  constructor(state: IndexState, texts: TextCache) {
    this.#state = state;
    this.#texts = texts;
  }

  /** What `visitAll` visits, as a JSON array in `json`. Throws AnswerTooLargeError past `maxBytes`. */
  write(json: JsonWriter, maxBytes: number, visitAll: (visitor: Visitor) => void): void {
    this.begin(json);
    this.goOn(json, maxBytes, visitAll);
    this.finish(json);
  }

  /** The same in parts: the array is begun here, */
  begin(json: JsonWriter): void {
    json.reset();
    this.open(json);
  }

  /** or here, behind what was written before, */
  open(json: JsonWriter): void {
    json.reserve(1);
    json.constant(OPEN_BRACKET);
  }

  /** grows by what is visited, */
  goOn(json: JsonWriter, maxBytes: number, visitAll: (visitor: Visitor) => void): void {
    this.#json = json;
    this.#maxBytes = maxBytes;
    try {
      visitAll(this.#visitor);
    } finally {
      this.#json = this.#group; // nobody's text is held on to
    }
  }

  /** or by some traces of a segment, up to one that there is no room for: how many they were, */
  traces(
    segment: number,
    positions: readonly number[],
    { json, maxBytes }: { readonly json: JsonWriter; readonly maxBytes: number },
  ): number {
    this.#segment = segment;
    this.#json = json;
    try {
      for (let i = 0; i < positions.length; i++) {
        const before = json.length;
        writeComma(json);
        this.#writeTrace(positions[i] ?? 0);
        if (json.textBytes > maxBytes) {
          json.length = before;
          return i;
        }
      }
      return positions.length;
    } finally {
      this.#json = this.#group;
    }
  }

  /** and ends here. */
  finish(json: JsonWriter): void {
    json.reserve(1);
    json.constant(CLOSE_BRACKET);
  }

  #checkSize(): void {
    if (this.#json.textBytes > this.#maxBytes) throw new AnswerTooLargeError(this.#maxBytes);
  }

  #writeMerged(merged: Merged): void {
    const { lists, positions } = merged;
    if (lists.length * MIN_TRACES_FOR_GROUPS <= positions.length) return this.#writeByGroups(merged);
    for (const position of positions) {
      writeComma(this.#json);
      this.#writeTrace(position);
      this.#checkSize();
    }
  }

  /** Each list is read on in the group where it was left, and what stands together in one is copied together. */
  #writeByGroups({ lists, positions, listIndexes, indexes }: Merged): void {
    const json = this.#json;
    const groups = new Int32Array(lists.length).fill(-1);
    const starts = new Float64Array(lists.length);
    for (let i = 0; i < positions.length; ) {
      const listIndex = listIndexes[i] ?? 0;
      const index = indexes[i] ?? 0;
      const list = lists[listIndex];
      if (list === undefined)
        throw new Error(`a trace was selected from list ${listIndex} of ${lists.length}`);
      const group = Math.floor(index / GROUP_TRACES);
      const groupStart = group * GROUP_TRACES;
      let stop = index + 1;
      const goesOn = (): boolean =>
        listIndexes[i + stop - index] === listIndex && indexes[i + stop - index] === stop;
      while (stop < groupStart + GROUP_TRACES && goesOn()) stop++;
      if (groups[listIndex] !== group) {
        groups[listIndex] = group;
        starts[listIndex] = this.#find(list, group);
      }
      writeComma(json);
      if (!this.#texts.writeAt(json, starts[listIndex] ?? NOWHERE, index - groupStart, stop - groupStart)) {
        this.#writeOfList(list, index, stop);
        starts[listIndex] = this.#find(list, group);
      }
      this.#checkSize();
      i += stop - index;
    }
  }

  /** Where the piece of a group is kept; groups past those that a key has room for never are. */
  #find(list: Positions, group: number): number {
    return group < GROUPS_PER_LIST ? this.#texts.find(groupKey(list, group)) : NOWHERE;
  }

  #writeTrace(position: number): void {
    const [blockNumber, traceIndex] = [blockAt(this.#segment, position), traceIndexAt(position)];
    const key = blockNumber * MAX_TRACES_PER_BLOCK + traceIndex;
    if (this.#texts.writeAt(this.#json, this.#texts.find(key), 0, 1)) return;
    this.#group.reset();
    this.#writeAnew(this.#group, blockNumber, traceIndex);
    const text = this.#group.written();
    this.#ends[0] = text.length;
    this.#texts.offer(key, text, this.#ends.subarray(0, 1));
    this.#json.verbatim(text, 0, text.length);
  }

  #writeRun({ list, first, end }: PartOfList): void {
    for (let i = first; i < end; ) {
      const stop = Math.min(end, i - (i % GROUP_TRACES) + GROUP_TRACES);
      writeComma(this.#json);
      this.#writeOfList(list, i, stop);
      this.#checkSize();
      i = stop;
    }
  }

  /** Traces of one group: one by one where it is too large to be kept. */
  #writeOfList(list: Positions, first: number, end: number): void {
    if (this.#writeOfGroup(list, first, end)) return;
    for (let i = first; i < end; i++) {
      if (i > first) writeComma(this.#json);
      this.#writeTrace(list.at(i));
      this.#checkSize();
    }
  }

  /** Traces of a group, from the piece that is kept of it or is made now; false where it is too large to be kept. */
  #writeOfGroup(list: Positions, firstIndex: number, endIndex: number): boolean {
    const json = this.#json;
    const group = Math.floor(firstIndex / GROUP_TRACES);
    if (group >= GROUPS_PER_LIST) return false;
    const key = groupKey(list, group);
    const start = group * GROUP_TRACES;
    const [first, end] = [firstIndex - start, endIndex - start];
    if (this.#texts.writeAt(json, this.#texts.find(key), first, end)) return true;

    const text = this.#group;
    text.reset();
    const count = Math.min(GROUP_TRACES, list.length - start);
    for (let i = 0; i < count; i++) {
      if (i > 0) writeComma(text);
      const position = list.at(start + i);
      this.#writeAnew(text, blockAt(this.#segment, position), traceIndexAt(position));
      if (text.textBytes > MAX_GROUP_BYTES) return false;
      this.#ends[i] = text.textBytes;
    }
    const written = text.written();
    if (this.#comesBack) this.#texts.keep(key, written, this.#ends.subarray(0, count));
    else this.#texts.offer(key, written, this.#ends.subarray(0, count));
    json.verbatim(written, first === 0 ? 0 : (this.#ends[first - 1] ?? 0) + 1, this.#ends[end - 1] ?? 0);
    return true;
  }

  #writeAnew(json: JsonWriter, blockNumber: number, traceIndex: number): void {
    writeTrace(json, this.#state.chunk(blockNumber, traceIndex), traceIndex % TRACES_PER_CHUNK, blockNumber);
  }
}

/** A comma, unless the bracket stands before it. */
function writeComma(json: JsonWriter): void {
  if (json.lastByte === OPEN_BRACKET[0]) return;
  json.reserve(1);
  json.constant(COMMA);
}
