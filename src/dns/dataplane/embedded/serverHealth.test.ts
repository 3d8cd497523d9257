import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeAll, type ProbeResult, ServerHealth, Standing } from './serverHealth.ts';

function probed(...results: ProbeResult[]): ServerHealth {
  const health = new ServerHealth();
  for (const result of results) health.noteProbe(result);
  return health;
}

/** Makes so many first tries at each, of which these shares go wrong; the same ones in every run. */
function serving(all: readonly ServerHealth[], seed: number) {
  const random = seeded(seed);
  return (badShares: readonly number[], rounds: number): void => {
    for (let i = 0; i < rounds; i++)
      for (const [index, health] of all.entries()) health.note(random() >= (badShares[index] ?? 0));
    judgeAll(all);
  };
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

describe('by its probes a server', () => {
  it('is left out after two without an answer, or two errors, and used after two good ones', () => {
    expect(probed('silent').standing).toBe(Standing.inUse);
    expect(probed('silent', 'silent').standing).toBe(Standing.silent);
    expect(probed('failing', 'failing').standing).toBe(Standing.failing);
    expect(probed('silent', 'good', 'silent', 'good').standing).toBe(Standing.inUse);
    expect(probed('silent', 'silent', 'good').standing).toBe(Standing.silent);
    expect(probed('silent', 'silent', 'good', 'good').standing).toBe(Standing.inUse);
  });

  it('stays while it answers clients: a probe name that it does not know is no fault of its', () => {
    const health = new ServerHealth();
    for (let i = 0; i < 20; i++) {
      health.note(true);
      health.noteProbe('failing');
    }
    expect(health.standing).toBe(Standing.inUse);
  });

  it('is left out at once where nobody listens', () => {
    const health = new ServerHealth();
    for (let i = 0; i < 19; i++) health.noteRefusal();
    expect(health.standing).toBe(Standing.inUse);
    health.noteRefusal();
    expect(health.standing).toBe(Standing.silent);
  });
});

describe('compared with the others a server', () => {
  it.each([0.4, 1])('that fails %d of its queries is left out, and used again when it does not', (share) => {
    const all = [new ServerHealth(), new ServerHealth()];
    const serve = serving(all, 7);
    serve([0, 0], 300);
    serve([share, 0], 200);
    expect(all.map(({ standing }) => standing)).toEqual([Standing.worse, Standing.inUse]);
    serve([share, 0], 40);
    expect(all[0]?.standing).toBe(Standing.worse);
    serve([0, 0], 300);
    expect(all[0]?.standing).toBe(Standing.inUse);
  });

  it('of which nobody asks anything is used again after ten seconds', () => {
    const all = [new ServerHealth(), new ServerHealth()];
    serving(all, 7)([1, 0], 200);
    for (let judgement = 0; judgement < 19; judgement++) judgeAll(all);
    expect(all[0]?.standing).toBe(Standing.worse);
    judgeAll(all);
    expect(all[0]?.standing).toBe(Standing.inUse);
  });

  it('is never left out for what clients ask, which goes wrong everywhere, however much of it does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 2, max: 5 }),
        (seed, share, servers) => {
          const all = Array.from({ length: servers }, () => new ServerHealth());
          const serve = serving(all, seed);
          const shares = all.map(() => share);
          for (let second = 0; second < 20; second++) {
            serve(shares, 40);
            for (const { standing } of all) expect(standing).toBe(Standing.inUse);
          }
        },
      ),
      { numRuns: 100, seed: 1 },
    );
  });
});
