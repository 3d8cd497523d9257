import { describe, expect, it } from 'vitest';
import { type Claim, NetworkHeads } from './networkHeads.ts';

const block = (number: number) => ({ number, hash: `0x${number}` });
const claim = (node: string, latest: number, safe: number, finalized: number): Claim => ({
  node,
  ends: { latest: block(latest), safe: block(safe), finalized: block(finalized) },
});

describe('the ends of the chain', () => {
  it('do not go backwards because a node that lags is asked again', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', 100, 90, 80)], 0);
    heads.update([claim('a', 100, 90, 80), claim('b', 95, 85, 75)], 1);
    expect([heads.latest?.number, heads.safe, heads.finalized]).toEqual([100, 90, 80]);
  });

  it('go on when all nodes do, as far as all of them agree', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', 100, 90, 80), claim('b', 100, 90, 80)], 0);
    heads.update([claim('a', 110, 100, 90), claim('b', 105, 95, 85)], 1);
    expect([heads.latest?.number, heads.safe, heads.finalized]).toEqual([110, 95, 85]);
  });

  it('safe is never above a head that went back', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', 100, 90, 80)], 0);
    heads.update([claim('a', 85, 84, 80)], 1);
    expect(heads.latest?.number).toBe(85);
    expect(heads.safe).toBeLessThanOrEqual(85);
  });
});
