import { type ChildProcess, spawn } from 'node:child_process';

/** How long a guarded child may take to end by itself after SIGTERM before its guard ends it, in seconds. */
const GRACE_SECONDS = 5;

/**
 * The guard: a shell forks a watcher and then becomes the program (`exec`), so the child's pid is the program's own.
 * The watcher reads the pipe that only the parent holds open (file descriptor 3). A line means that the parent saw
 * the program end; end of file without a line means that the parent died, in whatever way, and the program must go.
 */
const GUARD = `(
  trap '' INT HUP
  read -r line <&3 && exit
  kill -TERM $$ || exit
  for second in ${Array.from({ length: GRACE_SECONDS }, (_, i) => i + 1).join(' ')}; do
    sleep 1
    kill -0 $$ || exit
  done
  kill -KILL $$
) >/dev/null 2>&1 </dev/null &
exec "$@" 3<&-`;

/**
 * Runs `file` as a child that cannot outlive this process, not even when this process is killed with SIGKILL: a
 * detached `sh` watches for that. The child has a session of its own, so a terminal's Ctrl-C does not reach it.
 * Its stdout and stderr are pipes that the caller must read. Where there is no `sh` (Windows) it runs unguarded.
 */
export function spawnGuarded(file: string, args: readonly string[]): ChildProcess {
  if (process.platform === 'win32') return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const [, , , leash] = child.stdio;
  if (leash && 'write' in leash) {
    leash.on('error', () => {}); // the watcher may be gone already: then there is nobody to tell
    child.once('exit', () => leash.end('ended\n'));
  }
  return child;
}
