import { rename, writeFile } from 'node:fs/promises';

/** File with the last rules. dnsdist loads it when it starts, so that it has rules even if Floodgate does not run. */
export class RulesFile {
  readonly #file: string;
  #written = '';

  constructor(file: string) {
    this.#file = file;
  }

  /** Writes the file atomically if the rules have changed. */
  async write(rules: string): Promise<void> {
    if (rules === this.#written) return;
    await writeFile(`${this.#file}.new`, rules);
    await rename(`${this.#file}.new`, this.#file);
    this.#written = rules;
  }
}
