import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** Returns the compressed body. A thread compresses it at the first request, so that startup does not wait. */
  readonly gzipped: () => Promise<Buffer>;
  readonly etag: string;
  /** True if the file name contains a hash of the content, so that the file never changes. */
  readonly isImmutable: boolean;
}

export interface ConsoleFiles {
  /** The HTML page, sent for every path that is not the path of a file. */
  readonly page: ConsoleFile;
  /** All files, by their path below /console/. */
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

/** Folder of the built console, next to the compiled module or the bundle. */
const FOLDER = fileURLToPath(new URL('./web', import.meta.url));

/** Reads all files of the console into memory. Returns undefined if the console was not built. */
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
  type,
  body,
  gzipped: once(() => compress(body, { level: 9 })),
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
