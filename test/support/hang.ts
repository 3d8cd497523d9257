/**
 * Nothing in a test takes as long, on a machine with a load of 30 either: what has not come by then never will. A clock
 * ends what hangs and says where; it is no measure of how fast anything is. The limits in vitest.config.ts are beyond it.
 */
export const HANG_MS = 5 * 60_000;
