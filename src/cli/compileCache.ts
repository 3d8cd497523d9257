/**
 * Keeps what V8 compiles from one start to the next: half of the processor time of a start. Imported for its effect, before the modules
 * that it is about are loaded.
 */
import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CompiledModules } from './compiledModules.ts';

/**
 * Writes what was compiled up to now. To be called before flags of V8 are set: it takes no code that was kept under others. And soon: code that
 * did not run for a while is thrown away, and is not written then.
 */
export const saveCompiledCode = keepCompiledCode();

function keepCompiledCode(): () => void {
  try {
    const folder = ownFolder();
    if (folder === undefined || process.env['NODE_DISABLE_COMPILE_CACHE']) return () => undefined;
    // A server tells when it is loaded; what one compiled that could not start is not enough for those that can.
    if (isServer(process.argv[2])) return CompiledModules.keepIn(join(folder, 'servers'));
    const save = CompiledModules.keepIn(join(folder, 'commands'));
    process.once('exit', save);
    return save;
  } catch {
    // A user without a home, or a disk that cannot be written: the program is compiled at each start.
    return () => undefined;
  }
}

/**
 * Written is what was compiled until then, and once: of the modules that they share a command compiles little of what a server
 * needs, which would then be compiled at each start.
 */
function isServer(command: string | undefined): boolean {
  return command === 'start' || command === 'dev';
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
