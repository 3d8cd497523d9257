import { expect } from 'vitest';
import type { LiveTrace } from '../../../src/library/client/index.ts';

/** What stands of what a subscription told. Fails where something is taken back that does not stand last. */
export function standing(told: readonly LiveTrace[]): Omit<LiveTrace, 'removed'>[] {
  const stands: Omit<LiveTrace, 'removed'>[] = [];
  for (const { removed, ...trace } of told)
    if (removed) expect(stands.pop()).toEqual(trace);
    else stands.push(trace);
  return stands;
}
