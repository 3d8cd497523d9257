import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const LOWEST = 19;
const SESSION_PRIORITY = '/proc/self/autogroup';
const AUTOGROUPS = '/proc/sys/kernel/sched_autogroup_enabled';

/** Sets the priority of this process and of its session, from -20 (highest) to 19. */
function setOwnPriority(priority: number): void {
  setPriority(priority);
  if (existsSync(SESSION_PRIORITY)) writeFileSync(SESSION_PRIORITY, String(priority));
}

/**
 * Raises the priority of a process that stands for other machines: time for which it waits for a processor is not the
 * server's delay. Only root may raise a priority.
 */
export function raiseOwnPriority(): void {
  if (process.getuid?.() === 0) setOwnPriority(-10);
}

/**
 * Lets this process run only while a processor is idle: it stands for other machines, and must not delay the server. On
 * Linux, a process that only has the lowest priority may finish its slice of milliseconds first.
 */
export function yieldToOthers(): void {
  setOwnPriority(LOWEST);
  spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)]);
}

/**
 * Lets Linux compare the priorities of all processes until this one ends, if it is run by root. With autogroups, Linux
 * compares them only within a session, and each server and each client has its own.
 */
export function compareAllPriorities(): void {
  if (process.getuid?.() !== 0 || !existsSync(AUTOGROUPS)) return;
  const before = readFileSync(AUTOGROUPS, 'utf8');
  try {
    writeFileSync(AUTOGROUPS, '0');
  } catch {
    return; // containers may not change it
  }
  process.once('exit', () => writeFileSync(AUTOGROUPS, before));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
