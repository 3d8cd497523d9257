import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const SESSION_PRIORITY = '/proc/self/autogroup';

/**
 * Sets the priority of this process, from -20 (highest) to 19. Linux with autogroups compares the priorities of
 * processes only within a session, so that of the session is set, too. Throws if the user may not raise it.
 */
export function setOwnPriority(priority: number): void {
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
