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
