import { setTimeout as pause } from 'node:timers/promises';
import { HANG_MS } from './hang.ts';
import { isCi } from './search.ts';

const POLL_MS = 20;
/** A longer wait is probably a failure. On a developer's machine its reason is printed long before HANG_MS. */
const NOTICE_MS = 10_000;

/**
 * Waits until the condition returns neither undefined nor false, and returns that value. `what` names the awaited
 * event in the error after HANG_MS, for example "the worker to restart".
 */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const startedMs = Date.now();
  let isNoticed = isCi;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waitedMs = Date.now() - startedMs;
    if (waitedMs > HANG_MS) throw new Error(`timed out waiting for ${what}`);
    if (!isNoticed && waitedMs > NOTICE_MS) {
      process.stderr.write(`still waiting for ${what}\n`);
      isNoticed = true;
    }
    await pause(POLL_MS);
  }
}
