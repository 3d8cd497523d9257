import type { Log } from '../platform/logging/index.ts';

const CHECK_INTERVAL_MS = 1_000;
/** Clocks are slewed by fractions of this; what is more is a jump. */
const MAX_DRIFT_MS = 10_000;

interface Clocks {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

const SYSTEM: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() };

/**
 * Tells loudly where the system's clock jumps, or stands before the last change of a rule: timestamps, the expiry of tokens
 * and of retry keys go by it. Returns a function that ends the watch.
 */
export function watchClock(log: Log, behindSeconds: number, clocks: Clocks = SYSTEM): () => void {
  if (behindSeconds > 0)
    log.error(
      { behindSeconds },
      'the system clock is behind the last change of a rule or token: it is wrong now, or was then',
    );
  const offsetMs = () => clocks.wallMs() - clocks.monotonicMs();
  let last = offsetMs();
  const timer = setInterval(() => {
    const now = offsetMs();
    const jumpMs = now - last;
    last = now;
    if (Math.abs(jumpMs) > MAX_DRIFT_MS)
      log.error({ jumpSeconds: Math.round(jumpMs / 1000) }, 'the system clock jumped');
  }, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
