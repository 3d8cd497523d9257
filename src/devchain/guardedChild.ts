import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** How long a guarded child may take to end by itself after SIGTERM before its guard ends it, in seconds. */
const GRACE_SECONDS = 5;

/**
 * The guard: a shell forks a watcher and then becomes the program (`exec`), so the child's pid is the program's own and
 * the number of its process group. The watcher reads the pipe that only the parent holds open (file descriptor 3). A line
 * means that the parent saw the program end; end of file without a line means that the parent died, in whatever way, and
 * all of the group must go. The watcher is one of the group, so its number is nobody else's for as long as there is one to
 * watch; it is no child of the program, which may wait for all that it has.
 */
const GUARD = `( (
  trap '' INT HUP TERM
  read -r line <&3 && exit
  kill -TERM -$$
  for second in ${Array.from({ length: GRACE_SECONDS }, (_, i) => i + 1).join(' ')}; do
    kill -0 $$ || break
    sleep 1
  done
  kill -KILL -$$
) >/dev/null 2>&1 </dev/null & )
exec "$@" 3<&-`;

export interface GuardedOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** What the program reads: nothing, unless told otherwise. */
  readonly stdin?: 'ignore' | 'pipe';
}

/** A child whose output is read by its parent; `stdin` is null unless it was asked for. */
export type GuardedChild = ChildProcessByStdio<Writable | null, Readable, Readable>;

/**
 * Runs `file` as a child that cannot outlive this process, not even when this process is killed with SIGKILL: a `sh` of
 * its process group watches for that, and ends with it what it started in that group. The child has a session of its own,
 * so a terminal's Ctrl-C does not reach it. Its stdout and stderr are pipes that the caller must read. Where there
 * is no `sh` (Windows) it runs unguarded.
 */
export function spawnGuarded(
  file: string,
  args: readonly string[],
  { cwd, env, stdin = 'ignore' }: GuardedOptions = {},
): GuardedChild {
  const place = { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) };
  if (process.platform === 'win32')
    return spawn(file, args, { ...place, stdio: [stdin, 'pipe', 'pipe'] }) as GuardedChild; // as its stdio says
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', file, ...args], {
    ...place,
    stdio: [stdin, 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const [, , , leash] = child.stdio;
  if (leash && 'end' in leash) {
    leash.on('error', () => {}); // the watcher may be gone already: then there is nobody to tell
    child.once('exit', () => leash.end('ended\n'));
  }
  return child as GuardedChild; // as its stdio says
}
