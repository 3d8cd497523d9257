/**
 * Known names and their query types. dnsdist needs the names themselves, but the profile stores only hashes. Names
 * that the profile forgets are removed. The names are published in a file, which Floodgate loads at its next start.
 */
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import type { AttackDetector } from '../../detector/index.ts';
import { HEADER_BYTES, Question, queryPacket, readQuestionSection } from '../../protocol/index.ts';
import { type CdbEntry, cdbEntries, cdbOf } from './cdb.ts';

export class KnownNames {
  readonly #detector: AttackDetector;
  readonly #file: string;
  /** Query types of each name, as bits. Keys: name in wire form and lower case, with one character per octet. */
  readonly #names = new Map<string, number>();
  readonly #question = new Question();
  /** Query packet that is reused to hash names. It has room for the longest name. */
  readonly #packet = queryPacket(new Uint8Array(MAX_NAME_BYTES), 0);
  #changed = false;
  #combinations: readonly number[] | undefined;
  #published = false;
  /** Modification time of the file in seconds. dnsdist reloads the file only if it has increased. */
  #changedSecond = 0;

  constructor(detector: AttackDetector, file: string) {
    this.#detector = detector;
    this.#file = file;
  }

  get size(): number {
    return this.#names.size;
  }

  has(wire: Uint8Array): boolean {
    return this.#names.has(textOf(wire));
  }

  /** Path of the file with the names. Undefined if no names are published yet. */
  get published(): string | undefined {
    return this.#published ? this.#file : undefined;
  }

  /** Returns the `max` most frequent sets of query types of names. Each set is a number of bits. Sorted by number. */
  typeCombinations(max: number): readonly number[] {
    if (this.#combinations === undefined) {
      const counts = new Map<number, number>();
      for (const types of this.#names.values()) counts.set(types, (counts.get(types) ?? 0) + 1);
      const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([types]) => types);
      this.#combinations = byCount.slice(0, max).sort((a, b) => a - b);
    }
    return this.#combinations;
  }

  add(wire: Uint8Array): void {
    const name = textOf(wire);
    this.#set(name, this.#typesOf(name) ?? 0);
  }

  #set(name: string, types: number): void {
    if (this.#names.get(name) === types) return;
    this.#names.set(name, types);
    this.#changed = true;
  }

  #typesOf(name: string): number | undefined {
    const { profile } = this.#detector;
    const { hashHigh, hashLow } = this.#questionOf(Buffer.from(name, 'latin1'));
    const place = profile.find(hashHigh, hashLow);
    return place < 0 ? undefined : profile.types(place);
  }

  /**
   * Loads the names file of an earlier run. Names that were learned after the profile was last saved are missing from
   * the profile, so they are added to it as if answered now. A missing file counts as empty.
   */
  async load(): Promise<void> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0));
    if (file.length > 0) this.#changedSecond = Math.floor((await stat(this.#file)).mtimeMs / 1000);
    for (const [key, value] of cdbEntries(file)) if (isName(key)) this.#readmit(key, typesOf(value));
    this.#published = this.#names.size > 0;
  }

  /** Adds one name from the file. Looks it up only once in the profile, because a million names may be loaded. */
  #readmit(wire: Uint8Array, types: number): void {
    const { profile } = this.#detector;
    const question = this.#questionOf(wire);
    const place = profile.find(question.hashHigh, question.hashLow);
    const known = place < 0 ? 0 : profile.types(place);
    const isKnown = place >= 0 && (types & ~known) === 0;
    if (isKnown || profile.readmit(question, types)) this.#set(textOf(wire), known | types);
  }

  /** Returns the question for a name in wire form, like `questionOfWire`, but reuses one packet and one object. */
  #questionOf(wire: Uint8Array): Question {
    this.#packet.set(wire, HEADER_BYTES);
    readQuestionSection(this.#packet, this.#detector.key, this.#question);
    return this.#question;
  }

  forget(): void {
    for (const name of this.#names.keys()) {
      const types = this.#typesOf(name);
      if (types !== undefined) this.#set(name, types);
      else {
        this.#names.delete(name);
        this.#changed = true;
      }
    }
  }

  /** Writes the file atomically if names have changed, but never without names: dnsdist would limit all queries. */
  async publish(): Promise<void> {
    if (!this.#changed || this.#names.size === 0) return;
    this.#changed = false;
    this.#combinations = undefined;
    const temporary = `${this.#file}.new`;
    try {
      await writeFile(temporary, cdbOf(this.#entries()));
      const second = Math.max(Math.floor(Date.now() / 1000), this.#changedSecond + 1);
      await utimes(temporary, second, second);
      await rename(temporary, this.#file);
      this.#changedSecond = second;
    } catch (error) {
      this.#changed = true;
      throw error;
    }
    this.#published = true;
  }

  *#entries(): Generator<CdbEntry> {
    for (const [name, types] of this.#names)
      yield [Buffer.from(name, 'latin1'), Buffer.from(typesText(types))];
  }
}

/** Returns the key of a name in the map: its wire form in lower case, with one character per octet. */
function textOf(wire: Uint8Array): string {
  const text = Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('latin1');
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}

/** Returns a set of query types in the form in which dnsdist compares it: four hexadecimal digits. */
export const typesText = (types: number): string => types.toString(16).padStart(4, '0');

const TYPES_CHARACTERS = 4;
const TYPES_TEXT = /^[0-9a-f]{4}$/;
/** Query types of a name for which the file, written by an older version, has no types: the name has every type. */
const ALL_TYPES = 0xffff;

function typesOf(value: Uint8Array): number {
  const text = String.fromCharCode(...value.subarray(0, TYPES_CHARACTERS + 1));
  return TYPES_TEXT.test(text) ? Number.parseInt(text, 16) : ALL_TYPES;
}

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

/** Returns true if a key of the file is a name in wire form. The file may have been changed by other programs. */
function isName(wire: Uint8Array): boolean {
  if (wire.length > MAX_NAME_BYTES) return false;
  let at = 0;
  for (let label = wire[0] ?? 0; label !== 0; label = wire[at] ?? 0) {
    if (label > MAX_LABEL_BYTES) return false;
    at += label + 1;
  }
  return at === wire.length - 1;
}
