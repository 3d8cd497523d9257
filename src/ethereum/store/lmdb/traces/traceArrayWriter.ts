import {
  AnswerTooLargeError,
  blockAt,
  JsonWriter,
  MAX_TRACES_PER_BLOCK,
  type MatchVisitor,
  type Merged,
  NOT_FOUND,
  type PartOfList,
  type Positions,
  type ReadDataChunk,
  type TextCache,
  TRACES_PER_CHUNK,
  traceIndexAt,
  writeTrace,
} from '../../../traces/index.ts';
import type { IndexState } from './indexState.ts';

const OPEN_BRACKET = new Uint8Array([0x5b]);
const CLOSE_BRACKET = new Uint8Array([0x5d]);
const COMMA = new Uint8Array([0x2c]);

/**
 * Number of consecutive traces of a posting list that form a group, which is cached as one text. A result of 200
 * traces then needs 13 copies instead of 200.
 */
const GROUP_TRACES = 16;
/**
 * Maximum size of a group's text in bytes. Without it, a request for one trace could have to wait for 16 large
 * traces.
 */
const MAX_GROUP_BYTES = 512 * 1024;

/**
 * If a result has fewer traces per posting list than this, it does not use groups: most of a group's text would be
 * unused.
 */
const MIN_TRACES_FOR_GROUPS = 16;

/** Number of cache keys that are reserved for the groups of one posting list. It is enough for the largest block. */
const GROUPS_PER_LIST = 2 ** 24;

/**
 * Returns the cache key of a group, which is negative. Keys of single traces are not. `group` must be below
 * GROUPS_PER_LIST.
 */
const groupKey = (list: Positions, group: number): number => -1 - (list.id * GROUPS_PER_LIST + group);

/** Writes traces as a JSON array, from cached texts if there are any. */
export class TraceArrayWriter {
  readonly #state: IndexState;
  readonly #texts: TextCache;
  readonly #readData: ReadDataChunk = (blockNumber, chunk) => this.#state.dataChunk(blockNumber, chunk);
  readonly #group = new JsonWriter();
  readonly #ends = new Uint32Array(GROUP_TRACES);
  readonly #visitor: MatchVisitor = {
    merged: (segment, merged) => {
      this.#segment = segment;
      this.#canRevisitGroup = true;
      this.#writeMerged(merged);
    },
    run: (segment, part) => {
      this.#segment = segment;
      this.#canRevisitGroup = false;
      this.#writeRun(part);
    },
  };
  #json: JsonWriter = this.#group;
  #maxBytes = 0;
  #segment = 0;
  /**
   * True while merged posting lists are written. Parts of a group may then be needed several times, so groups are
   * always cached.
   */
  #canRevisitGroup = false;

  constructor(state: IndexState, texts: TextCache) {
    this.#state = state;
    this.#texts = texts;
  }

  /** Writes the visited traces as a JSON array to `json`. Throws AnswerTooLargeError above `maxBytes`. */
  write(json: JsonWriter, maxBytes: number, visitAll: (visitor: MatchVisitor) => void): void {
    this.begin(json);
    this.append(json, maxBytes, visitAll);
    this.finish(json);
  }

  begin(json: JsonWriter): void {
    json.reset();
    this.open(json);
  }

  /** Starts an array after the current content of `json`. */
  open(json: JsonWriter): void {
    json.reserve(1);
    json.constant(OPEN_BRACKET);
  }

  /** Appends the visited traces to the array. Throws AnswerTooLargeError above `maxBytes`. */
  append(json: JsonWriter, maxBytes: number, visitAll: (visitor: MatchVisitor) => void): void {
    this.#json = json;
    this.#maxBytes = maxBytes;
    try {
      visitAll(this.#visitor);
    } finally {
      this.#json = this.#group; // so that the caller's writer is not retained
    }
  }

  /**
   * Appends the traces at these positions of a segment, until the next one would exceed `maxBytes`. Returns the
   * number of appended traces.
   */
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

  /** Writes the traces of merged posting lists from cached groups. Adjacent traces of a group are copied together. */
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
      if (!this.#texts.writeAt(json, starts[listIndex] ?? NOT_FOUND, index - groupStart, stop - groupStart)) {
        this.#writeOfList(list, index, stop);
        starts[listIndex] = this.#find(list, group);
      }
      this.#checkSize();
      i += stop - index;
    }
  }

  /** Returns where the cache has a group's text, or NOT_FOUND. Groups from GROUPS_PER_LIST on are never cached. */
  #find(list: Positions, group: number): number {
    return group < GROUPS_PER_LIST ? this.#texts.find(groupKey(list, group)) : NOT_FOUND;
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

  /**
   * Writes the traces of a posting list from index `first` to before `end`, which are in one group. Writes them one
   * by one if the group's text is too large to cache.
   */
  #writeOfList(list: Positions, first: number, end: number): void {
    if (this.#writeOfGroup(list, first, end)) return;
    for (let i = first; i < end; i++) {
      if (i > first) writeComma(this.#json);
      this.#writeTrace(list.at(i));
      this.#checkSize();
    }
  }

  /**
   * Writes traces of one group from the group's text, which is created if it is not cached. Returns false if the text
   * is too large to cache.
   */
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
    if (this.#canRevisitGroup) this.#texts.put(key, written, this.#ends.subarray(0, count));
    else this.#texts.offer(key, written, this.#ends.subarray(0, count));
    json.verbatim(written, first === 0 ? 0 : (this.#ends[first - 1] ?? 0) + 1, this.#ends[end - 1] ?? 0);
    return true;
  }

  #writeAnew(json: JsonWriter, blockNumber: number, traceIndex: number): void {
    const chunk = this.#state.chunk(blockNumber, traceIndex);
    writeTrace(json, chunk, traceIndex % TRACES_PER_CHUNK, blockNumber, this.#readData);
  }
}

/** Writes a comma, except directly after the opening bracket. */
function writeComma(json: JsonWriter): void {
  if (json.lastByte === OPEN_BRACKET[0]) return;
  json.reserve(1);
  json.constant(COMMA);
}
