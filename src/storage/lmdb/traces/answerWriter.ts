import {
  AnswerTooLargeError,
  blockAt,
  type JsonWriter,
  type ListRun,
  MAX_TRACES_PER_BLOCK,
  placeAt,
  type TextCache,
  TRACES_PER_CHUNK,
  type Visitor,
  writeTrace,
} from '../../../traces/index.ts';
import type { IndexState } from './indexState.ts';

const OPEN_BRACKET = new Uint8Array([0x5b]);
const CLOSE_BRACKET = new Uint8Array([0x5d]);
const COMMA = new Uint8Array([0x2c]);

/**
 * Positions of a list whose traces' text is kept in one piece, at multiples of this: an answer of 200 traces of one address
 * is then a dozen copies and not two hundred.
 */
const GROUP_POSITIONS = 16;
/** More groups than any list has: its positions are of one segment, below 2^32. */
const GROUPS_PER_LIST = 2 ** 28;

/** Writes traces as a JSON array, from texts that are kept where there are any. */
export class AnswerWriter {
  readonly #state: IndexState;
  readonly #texts: TextCache;

  constructor(state: IndexState, texts: TextCache) {
    this.#state = state;
    this.#texts = texts;
  }

  /** What `visitAll` visits, as a JSON array in `json`. Throws AnswerTooLargeError past `maxBytes`. */
  write(json: JsonWriter, maxBytes: number, visitAll: (visitor: Visitor) => void): void {
    const checkSize = (): void => {
      if (json.length > maxBytes) throw new AnswerTooLargeError(maxBytes);
    };
    json.reset();
    json.constant(OPEN_BRACKET);
    visitAll({
      trace: (blockNumber, place) => {
        writeComma(json, 1);
        this.writeTrace(json, blockNumber, place);
        checkSize();
      },
      run: (segment, run) => this.#writeRun(json, segment, run, checkSize),
    });
    json.reserve(1);
    json.constant(CLOSE_BRACKET);
  }

  writeTrace(json: JsonWriter, blockNumber: number, place: number): void {
    const key = blockNumber * MAX_TRACES_PER_BLOCK + place;
    if (this.#texts.write(json, key)) return;
    const start = json.length;
    this.#writeAnew(json, blockNumber, place);
    this.#texts.keep(key, json.since(start));
  }

  #writeRun(json: JsonWriter, segment: number, { list, first, end }: ListRun, checkSize: () => void): void {
    for (let i = first; i < end; ) {
      writeComma(json, 1);
      if (i % GROUP_POSITIONS === 0 && i + GROUP_POSITIONS <= end) {
        this.#writeGroup(json, segment, { list, first: i, end: i + GROUP_POSITIONS });
        i += GROUP_POSITIONS;
      } else {
        const position = list.at(i);
        this.writeTrace(json, blockAt(segment, position), placeAt(position));
        i++;
      }
      checkSize();
    }
  }

  /** A whole group: it stays what it is as long as the list only grows. */
  #writeGroup(json: JsonWriter, segment: number, { list, first, end }: ListRun): void {
    // Single traces have keys from 0 up.
    const key = -2 - (list.id * GROUPS_PER_LIST + first / GROUP_POSITIONS);
    if (this.#texts.write(json, key)) return;
    const start = json.length;
    for (let i = first; i < end; i++) {
      const position = list.at(i);
      writeComma(json, start);
      this.#writeAnew(json, blockAt(segment, position), placeAt(position));
    }
    this.#texts.keep(key, json.since(start));
  }

  #writeAnew(json: JsonWriter, blockNumber: number, place: number): void {
    writeTrace(json, this.#state.chunk(blockNumber, place), place % TRACES_PER_CHUNK, blockNumber);
  }
}

/** A comma, unless nothing was written yet since `start`. */
function writeComma(json: JsonWriter, start: number): void {
  if (json.length <= start) return;
  json.reserve(1);
  json.constant(COMMA);
}
