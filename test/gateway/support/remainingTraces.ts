import { expect } from 'vitest';
import type { LiveTrace } from '../../../src/exports/client/index.ts';

/** Returns the traces that remain after removals. Fails if a removed trace is not the last remaining one. */
export function remainingTraces(reported: readonly LiveTrace[]): Omit<LiveTrace, 'removed'>[] {
  const stands: Omit<LiveTrace, 'removed'>[] = [];
  for (const { removed, ...trace } of reported)
    if (removed) expect(stands.pop()).toEqual(trace);
    else stands.push(trace);
  return stands;
}
