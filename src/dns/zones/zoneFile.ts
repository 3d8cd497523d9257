/** Reads a zone file and the files that it includes. */
import { isUtf8 } from 'node:buffer';
// `promises` of node:fs is loaded on first use; importing node:fs/promises would load it at startup.
import { promises as files, type Stats } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { REGULAR_FILE_FLAGS, requireRegular } from '../../platform/regularFile/index.ts';
import {
  Include,
  MasterFileError,
  type MasterRecord,
  newZoneState,
  parseMasterFile,
  startOf,
} from './masterFile.ts';

/** Maximum number of included files that contain each other. */
const MAX_DEPTH = 8;
/** Maximum number of files that one zone includes. With nesting, a few small files could include millions. */
const MAX_INCLUDES = 1000;

export interface ZoneFileOptions {
  /** Maximum number of names that $GENERATE produces. */
  readonly maxNames?: number;
  readonly signal?: AbortSignal;
}

/** A file that is being read. */
interface Open {
  readonly path: string;
  readonly realPath: string;
  readonly records: Iterator<MasterRecord | Include>;
}

/** The records of a zone file, with those of the included files in their places. */
export class ZoneFile {
  readonly #file: string;
  readonly #zone: string;
  readonly #options: ZoneFileOptions;
  /** Versions of the files that were read, by path. */
  readonly #versions = new Map<string, string>();
  /** Real path of the folder of the zone file. Included files must be below it. */
  #folder = '';
  #includes = 0;

  constructor(file: string, zone: string, options: ZoneFileOptions = {}) {
    this.#file = file;
    this.#zone = zone;
    this.#options = options;
  }

  /** Paths of the files that were read so far, first the zone file. A change of one of them is a change of the zone. */
  get paths(): readonly string[] {
    return [...this.#versions.keys()];
  }

  /** Versions of these files when they were read, as one text. */
  get version(): string {
    return [...this.#versions.values()].join();
  }

  /** Yields the records. Throws `MasterFileError` for an invalid line, and other errors if a file cannot be read. */
  async *records(): AsyncGenerator<MasterRecord> {
    const state = newZoneState(this.#options.maxNames);
    const realPath = await files.realpath(this.#file);
    this.#folder = dirname(realPath);
    const text = await this.#read(this.#file, realPath);
    const stack: Open[] = [
      { path: this.#file, realPath, records: parseMasterFile(text, startOf(this.#zone), state) },
    ];
    for (let current = stack.at(-1); current !== undefined; current = stack.at(-1)) {
      const next = nextOf(current);
      if (next === undefined) stack.pop();
      else if (next instanceof Include) {
        const opened = await this.#open(next, stack, current.path);
        stack.push({ ...opened, records: parseMasterFile(opened.text, next.start, state) });
      } else yield next;
    }
  }

  /** Opens an included file. `by`: path of the file with the directive. */
  async #open(
    { file, line }: Include,
    stack: readonly Open[],
    by: string,
  ): Promise<{ path: string; realPath: string; text: string }> {
    const fault = (why: string): MasterFileError => new MasterFileError(line, `$INCLUDE ${file}: ${why}`, by);
    if (stack.length > MAX_DEPTH) throw fault(`files may be nested at most ${MAX_DEPTH} deep`);
    if (++this.#includes > MAX_INCLUDES) throw fault(`a zone may include at most ${MAX_INCLUDES} files`);
    try {
      const path = resolve(this.#folder, file);
      const realPath = await files.realpath(path);
      if (!isBelow(realPath, this.#folder))
        throw new Error(
          `the file is ${realPath}; only files in the folder of the zone file, ${this.#folder}, are allowed`,
        );
      if (stack.some((open) => open.realPath === realPath)) throw new Error('the file includes itself');
      return { path, realPath, text: await this.#read(path, realPath) };
    } catch (error) {
      throw fault(error instanceof Error ? error.message : String(error));
    }
  }

  /** Returns the text of a regular file, and records its version. Throws if the file changes during the read. */
  async #read(path: string, realPath: string): Promise<string> {
    // Check the type before opening: opening a device can have effects, and opening a FIFO can block.
    requireRegular(path, await files.lstat(realPath));
    const handle = await files.open(realPath, REGULAR_FILE_FLAGS);
    try {
      const before = await handle.stat();
      requireRegular(path, before);
      const { signal } = this.#options;
      const text = textOf(await handle.readFile(signal && { signal }));
      const version = versionOf(before);
      // A link could have replaced the path between its check and the opening, so the path must still be this file.
      const after = [await handle.stat(), await files.stat(realPath)];
      const isSame = after.every((stats) => versionOf(stats) === version);
      if (!isSame || (await files.realpath(path)) !== realPath)
        throw new Error(`${path} changed while it was read`);
      if (!this.#versions.has(path)) this.#versions.set(path, version);
      return text;
    } finally {
      await handle.close();
    }
  }
}

/**
 * Returns the versions of files as one text, like {@link ZoneFile.version}. Throws if the first file, which is the
 * zone file, cannot be read.
 */
export async function versionOfFiles([file, ...included]: readonly string[]): Promise<string> {
  const versions = [file === undefined ? '' : versionOf(await files.stat(file))];
  for (const path of included) versions.push(await files.stat(path).then(versionOf, () => 'cannot be read'));
  return versions.join();
}

/**
 * Returns the text of a zone file. In a file that is not UTF-8, octets above 127 become escapes, so that names contain
 * them unchanged, as in BIND.
 */
function textOf(content: Buffer): string {
  if (isUtf8(content)) return content.toString();
  // A backslash before such an octet has no meaning; one before another character is kept with it.
  return content
    .toString('latin1')
    .replace(/\\?([\x80-\xff])|\\[\s\S]/g, (match, octet?: string) =>
      octet === undefined ? match : `\\${octet.charCodeAt(0)}`,
    );
}

/**
 * Returns whether a file changed between two results of {@link versionOfFiles} and was not replaced. A program may then
 * still be writing it.
 */
export function changedInPlace(before: string, after: string): boolean {
  const earlier = before.split(',');
  return after
    .split(',')
    .some((version, n) => version !== earlier[n] && inodeOf(version) === inodeOf(earlier[n]));
}

const versionOf = ({ ino, dev, mtimeMs, size }: Stats): string => `${ino} ${dev} ${mtimeMs} ${size}`;
const inodeOf = (version = ''): string => version.split(' ', 2).join(' ');

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

/** Returns the next record or $INCLUDE of a file, or undefined at its end. Errors name the file. */
function nextOf({ path, records }: Open): MasterRecord | Include | undefined {
  try {
    const { done, value } = records.next();
    return done ? undefined : value;
  } catch (error) {
    if (error instanceof MasterFileError) throw new MasterFileError(error.line, error.why, path);
    throw error;
  }
}
