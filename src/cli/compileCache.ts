/** Enables V8's compile cache on Node 22 and later. Import this module before the modules that are to be cached. */
import { mkdirSync, statSync } from 'node:fs';
import Module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const { enableCompileCache } = Module as { readonly enableCompileCache?: (folder: string) => unknown };

try {
  const { XDG_CACHE_HOME } = process.env;
  const caches = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
  const own = join(caches, 'floodgate');
  const folder = join(own, 'compiled');
  if (enableCompileCache !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Node's default folder is below the temporary folder, where another user could create it and plant code.
    if (isOnlyOurs(own) && isOnlyOurs(folder)) enableCompileCache(folder);
  }
} catch {
  // Without a writable home folder the program is compiled at each start.
}

function isOnlyOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
