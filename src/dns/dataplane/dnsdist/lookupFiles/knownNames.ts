/**
 * Known names and their query types. dnsdist needs the names themselves, but the profile stores only hashes. Names
 * that the profile forgets are removed. The names are published in a file, which Floodgate loads at its next start.
 * A second file contains the learned ones among them, which pay in zones limited by rate.
 */
import { join } from 'node:path';
import type { AttackDetector } from '../../../detector/index.ts';
import { HEADER_BYTES, Question, queryPacket, readQuestionSection } from '../../../protocol/index.ts';
import { LEARNED_FILE, NAMES_FILE } from '../rulesLoader.ts';
import type { CdbEntry } from './cdb.ts';
import { CdbFile } from './cdbFile.ts';

export class KnownNames {
  readonly #detector: AttackDetector;
  readonly #file: CdbFile;
  readonly #learnedFile: CdbFile;
  /**
   * Query types of each name, as bits, and whether it is learned. Keys: name in wire form and lower case, with one
   * character per octet.
   */
  readonly #names = new Map<string, number>();
  readonly #question = new Question();
  /** Query packet that is reused to hash names. It has room for the longest name. */
  readonly #packet = queryPacket(new Uint8Array(MAX_NAME_BYTES), 0);
  #changed = false;
  #combinations: readonly number[] | undefined;
  #published = false;

  constructor(detector: AttackDetector, folder: string) {
    this.#detector = detector;
    this.#file = new CdbFile(join(folder, NAMES_FILE));
    this.#learnedFile = new CdbFile(join(folder, LEARNED_FILE));
  }

  get size(): number {
    return this.#names.size;
  }

  has(wire: Uint8Array): boolean {
    return this.#names.has(textOf(wire));
  }

  /** Whether the folder has a file with names. */
  get isPublished(): boolean {
    return this.#published;
  }

  /** Returns the `max` most frequent sets of query types of names. Each set is a number of bits. Sorted by number. */
  typeCombinations(max: number): readonly number[] {
    if (this.#combinations === undefined) {
      const counts = new Map<number, number>();
      for (const note of this.#names.values()) {
        const types = note & ALL_TYPES;
        counts.set(types, (counts.get(types) ?? 0) + 1);
      }
      const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([types]) => types);
      this.#combinations = byCount.slice(0, max).sort((a, b) => a - b);
    }
    return this.#combinations;
  }

  add(wire: Uint8Array): void {
    const name = textOf(wire);
    this.#set(name, this.#noteOf(name) ?? 0);
  }

  #set(name: string, note: number): void {
    if (this.#names.get(name) === note) return;
    this.#names.set(name, note);
    this.#changed = true;
  }

  /** Returns query types and {@link LEARNED} of a name of the profile. */
  #noteOf(name: string): number | undefined {
    const { profile } = this.#detector;
    const { hashHigh, hashLow } = this.#questionOf(Buffer.from(name, 'latin1'));
    const place = profile.find(hashHigh, hashLow);
    if (place < 0) return undefined;
    return profile.types(place) | (profile.isLearned(place) ? LEARNED : 0);
  }

  /**
   * Loads the names file of an earlier run. Names that were learned after the profile was last saved are missing from
   * the profile, so they are added to it as if answered now. A missing file counts as empty.
   */
  async load(): Promise<void> {
    for (const [key, value] of await this.#file.read()) if (isName(key)) this.#readmit(key, typesOf(value));
    this.#published = this.#names.size > 0;
    // The file of learned names may be missing.
    this.#changed = this.#published;
  }

  /** Adds one name from the file. Looks it up only once in the profile, because a million names may be loaded. */
  #readmit(wire: Uint8Array, types: number): void {
    const { profile, zoneIndex } = this.#detector;
    const question = this.#questionOf(wire);
    const place = profile.find(question.hashHigh, question.hashLow);
    const known = place < 0 ? 0 : profile.types(place);
    const isKnown = place >= 0 && (types & ~known) === 0;
    if (!isKnown && !profile.readmit(question, types, zoneIndex.find(question))) return;
    const isLearned = place < 0 || profile.isLearned(place);
    this.#set(textOf(wire), known | types | (isLearned ? LEARNED : 0));
  }

  /** Returns the question for a name in wire form, like `questionOfWire`, but reuses one packet and one object. */
  #questionOf(wire: Uint8Array): Question {
    this.#packet.set(wire, HEADER_BYTES);
    readQuestionSection(this.#packet, this.#detector.key, this.#question);
    return this.#question;
  }

  forget(): void {
    for (const name of this.#names.keys()) {
      const note = this.#noteOf(name);
      if (note !== undefined) this.#set(name, note);
      else {
        this.#names.delete(name);
        this.#changed = true;
      }
    }
  }

  /** Writes the files if names have changed, but never without names: dnsdist would limit all queries. */
  async publish(): Promise<void> {
    if (!this.#changed || this.#names.size === 0) return;
    this.#changed = false;
    this.#combinations = undefined;
    try {
      await this.#learnedFile.write(this.#entries(LEARNED));
      await this.#file.write(this.#entries(0));
    } catch (error) {
      this.#changed = true;
      throw error;
    }
    this.#published = true;
  }

  /** Yields the names whose note contains `bits`. */
  *#entries(bits: number): Generator<CdbEntry> {
    for (const [name, note] of this.#names)
      if ((note & bits) === bits)
        yield [Buffer.from(name, 'latin1'), Buffer.from(typesText(note & ALL_TYPES))];
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
/** Bit of a name that its zone does not list. */
const LEARNED = 0x1_0000;

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
