import { rename, writeFile } from 'node:fs/promises';

/** The rules that a dnsdist finds which is started while Floodgate is away. */
export class RulesFile {
  readonly #file: string;
  #written = '';

  constructor(file: string) {
    this.#file = file;
  }

  /** Where they are others than before; whole or not at all. */
  async write(rules: string): Promise<void> {
    if (rules === this.#written) return;
    await writeFile(`${this.#file}.new`, rules);
    await rename(`${this.#file}.new`, this.#file);
    this.#written = rules;
  }
}
