import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;
const TIMEOUT_MS = 20_000;

/** Waits until a condition holds; the value that it gave is what it resolves with. */
export async function until<T>(what: string, condition: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(POLL_MS);
  }
}
