import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';
const CORES = availableParallelism();

/**
 * Clients and nodes have their own machines, so the servers share the first core during the measurement, and this
 * process and the others share the rest. If cores cannot be assigned, all processes share all of them.
 */
export async function withOwnCore<T>(
  servers: readonly number[],
  others: readonly number[],
  measure: () => Promise<T>,
): Promise<T> {
  if (CORES < 2 || !existsSync(TASKSET)) return measure();
  const give = (cores: string, pids: readonly number[]): void => {
    for (const pid of pids) execFileSync(TASKSET, ['-a', '-p', '-c', cores, String(pid)]);
  };
  const all = [process.pid, ...others];
  give('0', servers);
  give(`1-${CORES - 1}`, all);
  try {
    return await measure();
  } finally {
    give(`0-${CORES - 1}`, [...servers, ...all]);
  }
}
