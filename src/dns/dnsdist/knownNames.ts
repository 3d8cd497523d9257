/**
 * The names themselves, which dnsdist looks up: the profile keeps only hashes. A name is here because it was seeded or
 * because the profile knows it, and goes when the profile forgets it.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Judge } from '../judge.ts';
import { Question } from '../wire/question.ts';
import { questionOfWire } from '../wire/questionOf.ts';
import { cdbKeys, cdbOf } from './cdb.ts';

export class KnownNames {
  readonly #judge: Judge;
  readonly #file: string;
  /** Wire forms in lower case, as text of one character a byte. */
  readonly #names = new Set<string>();
  readonly #question = new Question();
  #changed = false;
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

  /** Adds a name in wire form. */
  add(wire: Uint8Array): void {
    const name = Buffer.from(wire)
      .toString('latin1')
      .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#changed = true;
  }

  /** Takes up what an earlier run published, as far as the profile still knows it. No file is no names. */
  async load(): Promise<void> {
    const file = await readFile(this.#file).catch(() => Buffer.alloc(0));
    for (const key of cdbKeys(file)) this.add(Uint8Array.from(key));
    this.forget();
  }

  /** Takes out what the profile has forgotten. */
  forget(): void {
    for (const name of this.#names) {
      const { hashHigh, hashLow } = questionOfWire(
        Buffer.from(name, 'latin1'),
        0,
        this.#judge.key,
        this.#question,
      );
      if (this.#judge.profile.find(hashHigh, hashLow) >= 0) continue;
      this.#names.delete(name);
      this.#changed = true;
    }
  }

  /** Writes the names where they changed, whole or not at all; an empty set never: it would refuse everybody. */
  async publish(): Promise<void> {
    if (!this.#changed || this.#names.size === 0) return;
    this.#changed = false;
    const temporary = `${this.#file}.new`;
    try {
      await writeFile(temporary, cdbOf(this.#keys()));
      await rename(temporary, this.#file);
    } catch (error) {
      this.#changed = true;
      throw error;
    }
    this.#published = true;
  }

  *#keys(): Generator<Uint8Array> {
    for (const name of this.#names) yield Buffer.from(name, 'latin1');
  }
}
