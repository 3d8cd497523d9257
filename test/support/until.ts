import { setTimeout as pause } from 'node:timers/promises';
import { HANG_MS } from './hang.ts';

const POLL_MS = 20;

/** Waits until a condition holds; resolves with what it gave. Rejects where it hangs, saying what was awaited. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(POLL_MS);
  }
}
