/**
 * Longer than any step of a test takes, even at a load of 30: a step that exceeds it hangs. The limit reports the
 * hanging step; it does not measure speed. The timeouts in vitest.config.ts are longer.
 */
export const HANG_MS = 5 * 60_000;
