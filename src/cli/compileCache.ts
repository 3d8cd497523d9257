/**
 * Keeps what V8 compiles from one start to the next, where Node can (22.8 and later): half of the processor time of a start.
 * Imported for its effect, before the modules that it is about are loaded.
 */
import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** What of `node:module` Node 20 does not have. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

const { enableCompileCache } = module as CompileCache;
if (enableCompileCache !== undefined) {
  try {
    const folder = ownFolder();
    if (folder !== undefined) enableCompileCache(folder);
  } catch {
    // A user without a home, or a disk that cannot be written: the program compiles at each start, as it must on Node 20.
  }
}

/**
 * A folder that nobody else can write to: compiled code is run as it is found. Node's own choice, a folder in the one for
 * temporary files, can be made by another user first.
 */
function ownFolder(): string | undefined {
  const { XDG_CACHE_HOME } = process.env;
  const caches = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
  const own = join(caches, 'floodgate');
  const folder = join(own, 'compiled');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isOurs(own) && isOurs(folder) ? folder : undefined;
}

function isOurs(folder: string): boolean {
  if (process.getuid === undefined) return true;
  const { uid, mode } = statSync(folder);
  return uid === process.getuid() && (mode & 0o022) === 0;
}
