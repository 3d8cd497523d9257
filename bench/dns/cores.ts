import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';
const CORES = availableParallelism();

/**
 * Cores of the attackers and of the defended processes, because attackers have their own machines: the attackers get
 * the last core, the others the rest. On shared cores the guard would take processor time from the flood. Undefined
 * if cores cannot be assigned.
 */
export const sides: { readonly attackers: string; readonly defended: string } | undefined =
  CORES > 1 && existsSync(TASKSET)
    ? { attackers: String(CORES - 1), defended: CORES === 2 ? '0' : `0-${CORES - 2}` }
    : undefined;

/** Returns a command with its arguments, bound to the cores of one side; unchanged if cores are shared. */
export function onCores(
  side: 'attackers' | 'defended',
  file: string,
  args: readonly string[],
): [file: string, args: string[]] {
  return sides === undefined ? [file, [...args]] : [TASKSET, ['-c', sides[side], file, ...args]];
}
