import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;
const TIMEOUT_MS = 30_000;

/** Waits until a condition holds; resolves with what it gave. Rejects after half a minute, saying what was awaited. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(POLL_MS);
  }
}
