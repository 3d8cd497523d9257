import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file as it is sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** Compressed when it is asked for first, beside the event loop: a start does not wait for it. */
  readonly gzipped: () => Promise<Buffer>;
  readonly etag: string;
  /** Its name has a hash of what is in it: under that name it never changes. */
  readonly isImmutable: boolean;
}

export interface ConsoleFiles {
  /** Answers every path that no file has. */
  readonly page: ConsoleFile;
  /** By their paths below /console/. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PAGE = 'index.html';
const HASHED = /-[\w-]{8}\.\w+$/;

/** Where the build puts them: beside this module, and beside a bundle. */
const FOLDER = fileURLToPath(new URL('./web', import.meta.url));

/** All of them, read into memory once; undefined where the console was not built. */
export function readConsoleFiles(folder = FOLDER): ConsoleFiles | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined;
  const files = new Map<string, ConsoleFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(
      path.slice(folder.length + 1).replaceAll('\\', '/'),
      fileOf(type, readFileSync(path), entry.name),
    );
  }
  const page = files.get(PAGE);
  return page && { page, files };
}

const compress = promisify(gzip);

const fileOf = (type: string, body: Buffer, name: string): ConsoleFile => ({
  ...{ type, body, gzipped: once(() => compress(body, { level: 9 })) },
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  isImmutable: HASHED.test(name),
});

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
