/**
 * The names themselves, which dnsdist looks up: the profile keeps only hashes. A name is here because it was seeded or
 * because the profile knows it, and goes when the profile forgets it. Under each name stand the types that it is known with.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Judge } from '../judge.ts';
import { Question } from '../wire/question.ts';
import { questionOfWire } from '../wire/questionOf.ts';
import { type CdbEntry, cdbKeys, cdbOf } from './cdb.ts';

export class KnownNames {
  readonly #judge: Judge;
  readonly #file: string;
  /** Type bits by the name's wire form in lower case, as text of one character a byte. */
  readonly #names = new Map<string, number>();
  readonly #question = new Question();
  #changed = false;
  #combinations: readonly number[] | undefined;
  #published = false;

  constructor(judge: Judge, file: string) {
    this.#judge = judge;
    this.#file = file;
  }

  get size(): number {
    return this.#names.size;
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
    const name = Buffer.from(wire)
      .toString('latin1')
      .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    this.#set(name, this.#typesOf(name) ?? 0);
  }

  #set(name: string, types: number): void {
    if (this.#names.get(name) === types) return;
    this.#names.set(name, types);
    this.#changed = true;
  }

  /** As bits; undefined where the profile does not know the name. */
  #typesOf(name: string): number | undefined {
    const { key, profile } = this.#judge;
    const wire = Buffer.from(name, 'latin1');
    const { hashHigh, hashLow } = questionOfWire(wire, 0, key, this.#question);
    const place = profile.find(hashHigh, hashLow);
    return place < 0 ? undefined : profile.types(place);
  }

  /** Takes up what an earlier run published, as far as the profile still knows it. No file is no names. */
  async load(): Promise<void> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0));
    for (const key of cdbKeys(file)) this.add(Uint8Array.from(key));
    this.forget();
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
      await rename(temporary, this.#file);
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

/** How dnsdist compares the types of a name: as text. */
export const typesText = (types: number): string => types.toString(16).padStart(4, '0');
