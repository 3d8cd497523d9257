import {
  AnswerTooLargeError,
  blockAt,
  JsonWriter,
  MAX_TRACES_PER_BLOCK,
  type Positions,
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
 * Traces in a row whose text is kept in one piece, from multiples of this on: an answer of 200 traces of one address, or of
 * one block, is then a dozen copies and not two hundred.
 */
const GROUP_TRACES = 16;
/** A group whose text grows past this is left alone: nobody shall wait for 16 large traces where one was asked for. */
const MAX_GROUP_BYTES = 512 * 1024;

/** Room in a key for the groups of one row: those of the largest block, and of any list that a chain could make. */
const GROUPS_PER_ROW = 2 ** 24;

/** Writes traces as a JSON array, from texts that are kept where there are any. */
export class AnswerWriter {
  readonly #state: IndexState;
  readonly #texts: TextCache;
  readonly #group = new JsonWriter();
  readonly #ends = new Uint32Array(GROUP_TRACES);

  constructor(state: IndexState, texts: TextCache) {
    this.#state = state;
    this.#texts = texts;
  }

  /** What `visitAll` visits, as a JSON array in `json`. Throws AnswerTooLargeError past `maxBytes`. */
  write(json: JsonWriter, maxBytes: number, visitAll: (visitor: Visitor) => void): void {
    const checkSize = (): void => {
      if (json.textBytes > maxBytes) throw new AnswerTooLargeError(maxBytes);
    };
    json.reset();
    json.constant(OPEN_BRACKET);
    visitAll({
      trace: (blockNumber, place) => {
        writeComma(json);
        this.#writeTrace(json, blockNumber, place);
        checkSize();
      },
      row: (segment, row, first, end) => this.#writeRow(json, segment, row, first, end, checkSize),
    });
    json.reserve(1);
    json.constant(CLOSE_BRACKET);
  }

  #writeTrace(json: JsonWriter, blockNumber: number, place: number): void {
    const key = blockNumber * MAX_TRACES_PER_BLOCK + place;
    if (this.#texts.write(json, key, 0, 1)) return;
    this.#group.reset();
    this.#writeAnew(this.#group, blockNumber, place);
    const text = this.#group.written();
    this.#ends[0] = text.length;
    this.#texts.keep(key, text, this.#ends, 1);
    json.verbatim(text, 0, text.length);
  }

  #writeRow(
    json: JsonWriter,
    segment: number,
    row: Positions,
    first: number,
    end: number,
    checkSize: () => void,
  ): void {
    for (let i = first; i < end; ) {
      const group = Math.floor(i / GROUP_TRACES);
      const groupStart = group * GROUP_TRACES;
      const stop = Math.min(end, groupStart + GROUP_TRACES);
      writeComma(json);
      if (!this.#writeOfGroup(json, segment, row, group, i - groupStart, stop - groupStart)) {
        for (let j = i; j < stop; j++) {
          if (j > i) writeComma(json);
          const position = row.at(j);
          this.#writeTrace(json, blockAt(segment, position), placeAt(position));
          checkSize();
        }
      }
      checkSize();
      i = stop;
    }
  }

  /** Traces of a group, from the piece that is kept of it or is made now; false where it is too large to be kept. */
  #writeOfGroup(
    json: JsonWriter,
    segment: number,
    row: Positions,
    group: number,
    first: number,
    end: number,
  ): boolean {
    if (group >= GROUPS_PER_ROW) return false;
    // Single traces have keys from 0 up.
    const key = -1 - (row.id * GROUPS_PER_ROW + group);
    if (this.#texts.write(json, key, first, end)) return true;

    const text = this.#group;
    text.reset();
    const start = group * GROUP_TRACES;
    const count = Math.min(GROUP_TRACES, row.length - start);
    for (let i = 0; i < count; i++) {
      if (i > 0) writeComma(text);
      const position = row.at(start + i);
      this.#writeAnew(text, blockAt(segment, position), placeAt(position));
      if (text.textBytes > MAX_GROUP_BYTES) return false;
      this.#ends[i] = text.textBytes;
    }
    const written = text.written();
    this.#texts.keep(key, written, this.#ends, count);
    json.verbatim(written, first === 0 ? 0 : (this.#ends[first - 1] ?? 0) + 1, this.#ends[end - 1] ?? 0);
    return true;
  }

  #writeAnew(json: JsonWriter, blockNumber: number, place: number): void {
    writeTrace(json, this.#state.chunk(blockNumber, place), place % TRACES_PER_CHUNK, blockNumber);
  }
}

/** A comma, unless nothing stands before it but the bracket. */
function writeComma(json: JsonWriter): void {
  if (json.textBytes === 1) return;
  json.reserve(1);
  json.constant(COMMA);
}
