import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';
const CORES = availableParallelism();

/**
 * Those who flood have machines of their own: here they have the last core, and what is defended has the others. Without
 * that the guard takes the processor from the flood, which then is none. Undefined where it cannot be had.
 */
export const sides: { readonly attackers: string; readonly defended: string } | undefined =
  CORES > 1 && existsSync(TASKSET)
    ? { attackers: String(CORES - 1), defended: CORES === 2 ? '0' : `0-${CORES - 2}` }
    : undefined;

/** A command and its arguments on the cores of one side; as they are where cores are shared. */
export function onCores(
  side: 'attackers' | 'defended',
  file: string,
  args: readonly string[],
): [file: string, args: string[]] {
  return sides === undefined ? [file, [...args]] : [TASKSET, ['-c', sides[side], file, ...args]];
}
