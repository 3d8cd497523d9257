import type { Log } from '../../platform/logging/index.ts';

const CHECK_INTERVAL_MS = 1_000;
/**
 * Maximum change between two checks of the difference between system clock and monotonic clock. A larger change is a
 * jump; gradual corrections (slewing) are far smaller.
 */
const MAX_DRIFT_MS = 10_000;

interface Clocks {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

const SYSTEM: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() };

/**
 * Logs an error when the system clock jumps, or is earlier than the last change of a rule or token. Timestamps and
 * the expiry of tokens and retry keys depend on the clock. Returns a function that stops the watch.
 */
export function watchClock(log: Log, behindSeconds: number, clocks: Clocks = SYSTEM): () => void {
  if (behindSeconds > 0)
    log.error(
      { behindSeconds },
      'system clock is behind the last change of a rule or token: it is wrong now, or was wrong then',
    );
  const offsetMs = () => clocks.wallMs() - clocks.monotonicMs();
  let last = offsetMs();
  const timer = setInterval(() => {
    const now = offsetMs();
    const jumpMs = now - last;
    last = now;
    if (Math.abs(jumpMs) > MAX_DRIFT_MS)
      log.error({ jumpSeconds: Math.round(jumpMs / 1000) }, 'system clock jumped');
  }, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
