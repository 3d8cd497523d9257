import { setTimeout as pause } from 'node:timers/promises';
import { HANG_MS } from './hang.ts';

const POLL_MS = 20;

/**
 * Waits until the condition returns neither undefined nor false, and returns that value. `what` names the awaited
 * event in the error after HANG_MS, for example "the worker to restart".
 */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await pause(POLL_MS);
  }
}
