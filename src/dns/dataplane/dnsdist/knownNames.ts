/**
 * Known names and their query types. dnsdist needs the names themselves, but the profile stores only hashes. A name
 * is removed when the profile forgets it. The published file survives restarts, because the next run loads it.
 */
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import type { AttackDetector } from '../../detector/index.ts';
import { HEADER_BYTES, Question, queryPacket, readQuestionSection } from '../../protocol/index.ts';
import { type CdbEntry, cdbEntries, cdbOf } from './cdb.ts';

export class KnownNames {
  readonly #detector: AttackDetector;
  readonly #file: string;
  /** Query types of each name, as bits. The key is the lower-case wire form, one character per octet. */
  readonly #names = new Map<string, number>();
  readonly #question = new Question();
  /** Packet buffer, reused for hashing names; large enough for the longest name. */
  readonly #packet = queryPacket(new Uint8Array(MAX_NAME_BYTES), 0);
  #changed = false;
  #combinations: readonly number[] | undefined;
  #published = false;
  /** Modification time of the file. dnsdist reloads the file only if this time, in whole seconds, has increased. */
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

  /** Path of the names file, or undefined if no names are published yet. */
  get published(): string | undefined {
    return this.#published ? this.#file : undefined;
  }

  /** Returns the `max` most frequent sets of query types as bits, in ascending order of value. */
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
   * the profile; they are added to it with their age reset. A missing file counts as empty.
   */
  async load(): Promise<void> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0));
    if (file.length > 0) this.#changedSecond = Math.floor((await stat(this.#file)).mtimeMs / 1000);
    for (const [key, value] of cdbEntries(file)) if (isName(key)) this.#readmit(key, typesOf(value));
    this.#published = this.#names.size > 0;
  }

  /** Looks the name up in the profile only once, because up to a million names are loaded before dnsdist gets rules. */
  #readmit(wire: Uint8Array, types: number): void {
    const { profile } = this.#detector;
    const question = this.#questionOf(wire);
    const place = profile.find(question.hashHigh, question.hashLow);
    const known = place < 0 ? 0 : profile.types(place);
    const isKnown = place >= 0 && (types & ~known) === 0;
    if (isKnown || profile.readmit(question, types)) this.#set(textOf(wire), known | types);
  }

  /** Parses the name like `questionOfWire`, but with one reused packet. */
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

  /** Writes changed names atomically. Never writes an empty set, because dnsdist would then limit all queries. */
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

/** Map key of a name: the lower-case wire form, one character per octet. */
function textOf(wire: Uint8Array): string {
  const text = Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('latin1');
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}

/** Set of query types in the form in which dnsdist compares it: four hexadecimal digits. */
export const typesText = (types: number): string => types.toString(16).padStart(4, '0');

const TYPES_CHARACTERS = 4;
const TYPES_TEXT = /^[0-9a-f]{4}$/;
/** Types of an entry without types, in files of older versions: the name counts as known with every type. */
const ALL_TYPES = 0xffff;

function typesOf(value: Uint8Array): number {
  const text = String.fromCharCode(...value.subarray(0, TYPES_CHARACTERS + 1));
  return TYPES_TEXT.test(text) ? Number.parseInt(text, 16) : ALL_TYPES;
}

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

/** Checks a name from the file, because the file is not trusted. */
function isName(wire: Uint8Array): boolean {
  if (wire.length > MAX_NAME_BYTES) return false;
  let at = 0;
  for (let label = wire[0] ?? 0; label !== 0; label = wire[at] ?? 0) {
    if (label > MAX_LABEL_BYTES) return false;
    at += label + 1;
  }
  return at === wire.length - 1;
}
