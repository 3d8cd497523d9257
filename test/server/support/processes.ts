import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly isZombie: boolean;
}

const ESTABLISHED = '01';

/** Whether this system tells of its processes in /proc, as Linux does. */
export const canListProcesses = process.platform === 'linux';

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        // The program's name stands in parentheses and may have spaces: fields are counted behind it.
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return { pid: Number(name), parent: Number(parent), isZombie: state === 'Z' };
      } catch {
        return []; // it ended meanwhile
      }
    });
}

/** A process, its children, theirs, and so on. */
export function familyOf(pid: number): number[] {
  const all = processes();
  const family = [pid];
  for (const member of family)
    family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid));
  return family;
}

/** Those of the processes that still run. One that ended and was not yet collected by its parent does not. */
export function running(pids: readonly number[]): number[] {
  return processes()
    .filter(({ pid, isZombie }) => pids.includes(pid) && !isZombie)
    .map(({ pid }) => pid);
}

/** Ports of those who are connected with a process over TCP. */
export function portsConnectedWith(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
      } catch {
        return []; // it was closed meanwhile
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
