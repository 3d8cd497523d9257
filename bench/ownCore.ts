import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';
const CORES = availableParallelism();

/**
 * Clients and nodes have machines of their own: here the server has the first core to itself meanwhile, and this process and
 * the others share the rest. Where cores cannot be given they are all shared.
 */
export async function withOwnCore<T>(
  server: number,
  others: readonly number[],
  measure: () => Promise<T>,
): Promise<T> {
  if (CORES < 2 || !existsSync(TASKSET)) return measure();
  const give = (cores: string, pids: readonly number[]): void => {
    for (const pid of pids) execFileSync(TASKSET, ['-a', '-p', '-c', cores, String(pid)]);
  };
  const all = [process.pid, ...others];
  give('0', [server]);
  give(`1-${CORES - 1}`, all);
  try {
    return await measure();
  } finally {
    give(`0-${CORES - 1}`, [server, ...all]);
  }
}
