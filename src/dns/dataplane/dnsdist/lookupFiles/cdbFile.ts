import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { type CdbEntry, cdbEntries, cdbOf } from './cdb.ts';

/** A file in which dnsdist looks up keys. It is replaced as a whole and atomically. */
export class CdbFile {
  readonly path: string;
  /** Modification time of the file in seconds. dnsdist reloads the file only if it has increased. */
  #changedSecond = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Returns the entries of the file. A missing file counts as empty. */
  async read(): Promise<Iterable<CdbEntry>> {
    const file = await readFile(this.path).catch(() => Buffer.alloc(0));
    if (file.length > 0) this.#changedSecond = Math.floor((await stat(this.path)).mtimeMs / 1000);
    return cdbEntries(file);
  }

  async write(entries: Iterable<CdbEntry>): Promise<void> {
    const temporary = `${this.path}.new`;
    await writeFile(temporary, cdbOf(entries));
    const second = Math.max(Math.floor(Date.now() / 1000), this.#changedSecond + 1);
    await utimes(temporary, second, second);
    await rename(temporary, this.path);
    this.#changedSecond = second;
  }
}
