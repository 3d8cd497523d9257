/**
 * The names themselves, which dnsdist looks up: the profile keeps only hashes. A name is here because it was seeded or
 * because the profile knows it, and goes when the profile forgets it. Under each name stand the types that it is known with.
 * What is published is what dnsdist protects with: the next run takes it up whole, also after a kill.
 */
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import type { AttackDetector } from '../../detector/index.ts';
import { HEADER_BYTES, Question, queryPacket, readQuestionSection } from '../../protocol/index.ts';
import { type CdbEntry, cdbEntries, cdbOf } from './cdb.ts';

export class KnownNames {
  readonly #detector: AttackDetector;
  readonly #file: string;
  /** Type bits by the name's wire form in lower case, as text of one character a byte. */
  readonly #names = new Map<string, number>();
  readonly #question = new Question();
  /** A query as long as the longest name makes it. */
  readonly #packet = queryPacket(new Uint8Array(MAX_NAME_BYTES), 0);
  #changed = false;
  #combinations: readonly number[] | undefined;
  #published = false;
  /** dnsdist takes up a file whose whole second of change is later than that of the last one it read. */
  #changedSecond = 0;

  constructor(detector: AttackDetector, file: string) {
    this.#detector = detector;
    this.#file = file;
  }

  get size(): number {
    return this.#names.size;
  }

  /** Whether this name, in wire form, is among them. */
  has(wire: Uint8Array): boolean {
    return this.#names.has(textOf(wire));
  }

  /** Where the names are; undefined until some were published. */
  get published(): string | undefined {
    return this.#published ? this.#file : undefined;
  }

  /** The combinations of types, as bits, with which most names are known, at most `max` of them, in ascending order. */
  typeCombinations(max: number): readonly number[] {
    if (this.#combinations === undefined) {
      const counts = new Map<number, number>();
      for (const types of this.#names.values()) counts.set(types, (counts.get(types) ?? 0) + 1);
      const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([types]) => types);
      this.#combinations = byCount.slice(0, max).sort((a, b) => a - b);
    }
    return this.#combinations;
  }

  /** Adds a name in wire form, with the types that the profile knows of it. */
  add(wire: Uint8Array): void {
    const name = textOf(wire);
    this.#set(name, this.#typesOf(name) ?? 0);
  }

  #set(name: string, types: number): void {
    if (this.#names.get(name) === types) return;
    this.#names.set(name, types);
    this.#changed = true;
  }

  /** As bits; undefined where the profile does not know the name. */
  #typesOf(name: string): number | undefined {
    const { profile } = this.#detector;
    const { hashHigh, hashLow } = this.#questionOf(Buffer.from(name, 'latin1'));
    const place = profile.find(hashHigh, hashLow);
    return place < 0 ? undefined : profile.types(place);
  }

  /**
   * Takes up what an earlier run published. What it learned since the profile was last saved is known again, and ages from
   * now on. No file is no names.
   */
  async load(): Promise<void> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0));
    if (file.length > 0) this.#changedSecond = Math.floor((await stat(this.#file)).mtimeMs / 1000);
    for (const [key, value] of cdbEntries(file)) if (isName(key)) this.#readmit(key, typesOf(value));
    this.#published = this.#names.size > 0;
  }

  /** Called for each of a million names before dnsdist is told of anything: one look at each. */
  #readmit(wire: Uint8Array, types: number): void {
    const { profile } = this.#detector;
    const question = this.#questionOf(wire);
    const place = profile.find(question.hashHigh, question.hashLow);
    const known = place < 0 ? 0 : profile.types(place);
    const isKnown = place >= 0 && (types & ~known) === 0;
    if (isKnown || profile.readmit(question, types)) this.#set(textOf(wire), known | types);
  }

  /** As `questionOfWire` reads it, in one packet for all names. */
  #questionOf(wire: Uint8Array): Question {
    this.#packet.set(wire, HEADER_BYTES);
    readQuestionSection(this.#packet, this.#detector.key, this.#question);
    return this.#question;
  }

  /** Takes out what the profile has forgotten, names and types. */
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

  /** Writes the names where they changed, whole or not at all; an empty set never: it would refuse everybody. */
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

/** A name in wire form as it is kept here: in lower case, one character a byte. */
function textOf(wire: Uint8Array): string {
  const text = Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('latin1');
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}

/** How dnsdist compares the types of a name: as text. */
export const typesText = (types: number): string => types.toString(16).padStart(4, '0');

const TYPES_CHARACTERS = 4;
const TYPES_TEXT = /^[0-9a-f]{4}$/;
/** A file of before the types stood in it. */
const ALL_TYPES = 0xffff;

function typesOf(value: Uint8Array): number {
  const text = String.fromCharCode(...value.subarray(0, TYPES_CHARACTERS + 1));
  return TYPES_TEXT.test(text) ? Number.parseInt(text, 16) : ALL_TYPES;
}

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

/** Whether these bytes are one whole name in wire form: a file may be anybody's. */
function isName(wire: Uint8Array): boolean {
  if (wire.length > MAX_NAME_BYTES) return false;
  let at = 0;
  for (let label = wire[0] ?? 0; label !== 0; label = wire[at] ?? 0) {
    if (label > MAX_LABEL_BYTES) return false;
    at += label + 1;
  }
  return at === wire.length - 1;
}
