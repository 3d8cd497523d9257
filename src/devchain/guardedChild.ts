import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** Seconds between SIGTERM and SIGKILL when the guard ends the child. */
const GRACE_SECONDS = 5;

/**
 * Guard script. A shell forks a watcher, then becomes the program (`exec`), so the child's pid is the program's pid
 * and process group id. The watcher reads a pipe (file descriptor 3) that only the parent keeps open. If the parent
 * notices that the program has exited, it writes a line. If the pipe ends without a line, the parent has died, so the
 * watcher kills the group. The watcher belongs to the group, so the group id cannot be reused. It is not a child of
 * the program, because the program may wait for all of its children.
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
  /** Standard input of the program: none, or a pipe. Default: `ignore`. */
  readonly stdin?: 'ignore' | 'pipe';
}

/** A child process with pipes for stdout and stderr. `stdin` is null unless the options request a pipe for it. */
export type GuardedChild = ChildProcessByStdio<Writable | null, Readable, Readable>;

/**
 * Runs `file` as a child process that cannot outlive this process, even if this process is ended with SIGKILL. The
 * child has its own session, so Ctrl-C does not reach it. The caller must read stdout and stderr. On Windows, which
 * has no `sh`, the child may outlive this process.
 */
export function spawnGuarded(
  file: string,
  args: readonly string[],
  { cwd, env, stdin = 'ignore' }: GuardedOptions = {},
): GuardedChild {
  const place = { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) };
  if (process.platform === 'win32')
    return spawn(file, args, { ...place, stdio: [stdin, 'pipe', 'pipe'] }) as GuardedChild; // the stdio option sets the streams
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', file, ...args], {
    ...place,
    stdio: [stdin, 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const [, , , leash] = child.stdio;
  if (leash && 'end' in leash) {
    leash.on('error', () => {}); // the watcher may have exited already
    child.once('exit', () => leash.end('ended\n'));
  }
  return child as GuardedChild; // the stdio option sets the streams
}
