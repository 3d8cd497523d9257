import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareAll, HealthStatus, type ProbeResult, ServerHealth } from './serverHealth.ts';

function probed(...results: ProbeResult[]): ServerHealth {
  const health = new ServerHealth();
  for (const result of results) health.noteProbe(result);
  return health;
}

/**
 * Returns a function that sends queries to each server; the given shares of them fail. The seed makes runs repeatable.
 */
function serving(all: readonly ServerHealth[], seed: number) {
  const random = seeded(seed);
  return (badShares: readonly number[], rounds: number): void => {
    for (let i = 0; i < rounds; i++)
      for (const [index, health] of all.entries()) health.note(random() >= (badShares[index] ?? 0));
    compareAll(all);
  };
}

/** Returns a deterministic random number generator (xorshift32). */
function seeded(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

describe('a server checked by probes', () => {
  it('is removed after two silent or two failing probes, and restored after two good ones', () => {
    expect(probed('silent').status).toBe(HealthStatus.inUse);
    expect(probed('silent', 'silent').status).toBe(HealthStatus.silent);
    expect(probed('failing', 'failing').status).toBe(HealthStatus.failing);
    expect(probed('silent', 'good', 'silent', 'good').status).toBe(HealthStatus.inUse);
    expect(probed('silent', 'silent', 'good').status).toBe(HealthStatus.silent);
    expect(probed('silent', 'silent', 'good', 'good').status).toBe(HealthStatus.inUse);
  });

  it('is not removed for failing probes while it answers clients', () => {
    const health = new ServerHealth();
    for (let i = 0; i < 20; i++) {
      health.note(true);
      health.noteProbe('failing');
    }
    expect(health.status).toBe(HealthStatus.inUse);
  });

  it.each(['failing', 'silent'] as const)(
    'with %s probes is restored after two intervals in which it answers clients',
    (result) => {
      const health = probed('silent', 'silent');
      health.note(true);
      health.noteProbe(result);
      expect(health.status).toBe(HealthStatus.silent);
      health.note(true);
      health.noteProbe(result);
      expect(health.status).toBe(HealthStatus.inUse);
    },
  );

  it('is not restored by single answers to clients, or by SERVFAIL', () => {
    const health = probed('failing', 'failing');
    for (let i = 0; i < 20; i++) {
      health.note(i % 2 === 0);
      health.noteProbe('failing');
      expect(health.status).toBe(HealthStatus.failing);
    }
  });

  it('that is silent and then answers probes with errors is failing', () => {
    expect(probed('silent', 'silent', 'failing').status).toBe(HealthStatus.failing);
  });

  it('is removed after 20 ICMP port unreachable messages', () => {
    const health = new ServerHealth();
    for (let i = 0; i < 19; i++) health.notePortUnreachable();
    expect(health.status).toBe(HealthStatus.inUse);
    health.notePortUnreachable();
    expect(health.status).toBe(HealthStatus.silent);
  });
});

describe('a server compared with the others', () => {
  it.each([0.4, 1])(
    'that fails a share of %d of its queries is removed, and restored when it recovers',
    (share) => {
      const all = [new ServerHealth(), new ServerHealth()];
      const serve = serving(all, 7);
      serve([0, 0], 300);
      serve([share, 0], 200);
      expect(all.map(({ status }) => status)).toEqual([HealthStatus.worse, HealthStatus.inUse]);
      serve([share, 0], 40);
      expect(all[0]?.status).toBe(HealthStatus.worse);
      serve([0, 0], 300);
      expect(all[0]?.status).toBe(HealthStatus.inUse);
    },
  );

  it('without trial queries is restored after ten seconds', () => {
    const all = [new ServerHealth(), new ServerHealth()];
    serving(all, 7)([1, 0], 200);
    for (let judgement = 0; judgement < 19; judgement++) compareAll(all);
    expect(all[0]?.status).toBe(HealthStatus.worse);
    compareAll(all);
    expect(all[0]?.status).toBe(HealthStatus.inUse);
  });

  it('is never removed for queries that fail equally at all servers', () => {
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
            for (const { status } of all) expect(status).toBe(HealthStatus.inUse);
          }
        },
      ),
      { numRuns: 100, seed: 1 },
    );
  });
});
