import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly isZombie: boolean;
}

const ESTABLISHED = '01';

/** Whether this system lists its processes in /proc (Linux). */
export const canListProcesses = process.platform === 'linux';

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        // The program name in parentheses may contain spaces, so fields are counted after it.
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return { pid: Number(name), parent: Number(parent), isZombie: state === 'Z' };
      } catch {
        return []; // the process has ended
      }
    });
}

/** Returns the ids of a process and all its descendants. */
export function processTree(pid: number): number[] {
  const all = processes();
  const family = [pid];
  for (const member of family)
    family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid));
  return family;
}

/** Returns the processes that are still running. Zombies are not. */
export function running(pids: readonly number[]): number[] {
  return processes()
    .filter(({ pid, isZombie }) => pids.includes(pid) && !isZombie)
    .map(({ pid }) => pid);
}

/** Returns the remote ports of the TCP connections of a process. */
export function remotePortsOf(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
      } catch {
        return []; // the descriptor was closed
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === ESTABLISHED && sockets.has(`socket:[${inode}]`))
      .map(([, , remote = '']) => Number.parseInt(remote.split(':')[1] ?? '', 16)),
  );
}
