/** Limits by client: access lists, which apply first, and clients with too many queries for known names. */
import { describe, expect, it } from 'vitest';
import { parseNetwork } from '../../platform/addresses/index.ts';
import type { Rule } from '../../rules/index.ts';
import { nameToWire, networkHash, questionOf } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { explain } from './explain.ts';
import { outcomeOf, reasonOf, type Verdict } from './verdict.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 1, low: 2 };
const ZONE = 'example.test';
const NOW = 1_800_000_000_000;
const verdictText = (verdict: Verdict): string => `${outcomeOf(verdict)} ${reasonOf(verdict)}`;
const question = (name: string) => questionOf(`${name}.${ZONE}`, 1, KEY);

/** Returns a seeded guard with a threshold of 100 queries/s that was learned from traffic. */
function guarded(settings: Partial<Rule>): AttackDetector {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1000 } }, NOW - 600_000);
  const seed = new ZoneSeed({ zone: ZONE }, { detector });
  for (let i = 0; i < 100; i++) seed.add(nameToWire(`h${i}.${ZONE}`), 'A');
  seed.finish();
  for (let atMs = NOW - 600_000; atMs <= NOW; atMs += 1000) detector.tick(atMs);
  const sensitivities = { rate_sensitivity: 'medium', burst_sensitivity: 'medium' } as const;
  const rule = {
    id: 'r',
    scope: 'global',
    name: 'g',
    mode: 'enabled',
    created_on: '',
    modified_on: '',
  } as const;
  detector.setRule({ ...rule, profile_sensitivity: 'medium', ...sensitivities, ...settings }, NOW);
  return detector;
}

interface Asking {
  readonly client?: string;
  readonly queries: number;
  readonly nowMs?: number;
}

/** Runs queries for known names. Returns the number of queries per verdict. */
function verdicts(detector: AttackDetector, { client, queries, nowMs = NOW }: Asking) {
  const counts: Record<string, number> = {};
  for (let i = 0; i < queries; i++) {
    const key = verdictText(detector.decide(question(`h${i % 100}`), nowMs, client));
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe("a client that queries known names faster than the account's usual rate", () => {
  it('is sent to TCP above twice its limit at the latest; other clients are not', () => {
    const detector = guarded({});
    expect(detector.clientRatePerSecond).toBe(100);
    expect(verdicts(detector, { client: '198.51.100.1', queries: 2000 })).toEqual({
      'passed none': 1000,
      'truncated clientRate': 1000,
    });
    expect(verdicts(detector, { client: '198.51.100.2', queries: 100 })).toEqual({ 'passed none': 100 });
    const tcp = { address: '198.51.100.1', client: '198.51.100.1' };
    expect(verdictText(detector.overTcp.decide(question('h1'), tcp, NOW))).toBe('passed none');
    expect(verdicts(detector, { client: '198.51.100.1', queries: 100, nowMs: NOW + 5000 })).toEqual({
      'passed none': 100,
    });
  });

  it('is not limited at sensitivity low, without a rule, or if its address is unknown', () => {
    expect(
      verdicts(guarded({ profile_sensitivity: 'low' }), { client: '198.51.100.1', queries: 2000 }),
    ).toEqual({
      'passed none': 2000,
    });
    expect(verdicts(guarded({ mode: 'disabled' }), { client: '198.51.100.1', queries: 2000 })).toEqual({
      'passed none': 2000,
    });
    expect(verdicts(guarded({}), { queries: 2000 })).toEqual({ 'passed none': 2000 });
  });

  it('is only counted when the rule is monitoring', () => {
    expect(verdicts(guarded({ mode: 'monitoring' }), { client: '198.51.100.1', queries: 1100 })).toEqual({
      'passed none': 1000,
      'wouldDrop clientRate': 100,
    });
  });

  it('has a higher limit at a lower rate sensitivity', () => {
    expect(guarded({ rate_sensitivity: 'low' }).clientRatePerSecond).toBe(200);
    expect(guarded({ rate_sensitivity: 'high' }).clientRatePerSecond).toBe(50);
  });

  it('is not limited because of a flood of unknown names with its forged address', () => {
    const detector = guarded({});
    for (let i = 0; i < 10_000; i++) detector.decide(question(`x${i}`), NOW, '198.51.100.1');
    expect(verdicts(detector, { client: '198.51.100.1', queries: 100 })).toEqual({ 'passed none': 100 });
  });
});

describe('new clients at very_high', () => {
  const HOUR_MS = 3_600_000;
  const USER = '198.51.100.1';

  /** Returns a guard that has known one user for two hours. */
  function watching(settings: Partial<Rule> = {}): AttackDetector {
    const detector = guarded({ profile_sensitivity: 'very_high', ...settings });
    for (const hours of [2, 0]) detector.clients.note(networkHash(USER), NOW - hours * HOUR_MS);
    return detector;
  }
  /** Runs one second of queries for known names, each from a different network. */
  function flood(detector: AttackDetector) {
    const counts: Record<string, number> = {};
    for (let i = 0; i < 3000; i++) {
      const key = verdictText(detector.decide(question(`h${i % 100}`), NOW, `10.${i >> 8}.${i & 255}.1`));
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  it("share the account's usual rate; one in eight queries above it is sent to TCP; known clients pass", () => {
    const detector = watching();
    expect(flood(detector)).toEqual({
      'passed none': 500,
      'truncated newClient': 313,
      'dropped newClient': 2187,
    });
    expect(verdicts(detector, { client: USER, queries: 40 })).toEqual({ 'passed none': 40 });
    const tcp = { address: '10.0.0.1', client: '10.0.0.1' };
    expect(verdictText(detector.overTcp.decide(question('h1'), tcp, NOW))).toBe('passed none');
    expect(detector.attack).toBe(false);
  });

  it('are not limited at lower levels or before any client can be known, and only counted in monitoring', () => {
    for (const profile_sensitivity of ['low', 'medium', 'high'] as const)
      expect(flood(watching({ profile_sensitivity }))).toEqual({ 'passed none': 3000 });
    expect(flood(guarded({ profile_sensitivity: 'very_high' }))).toEqual({ 'passed none': 3000 });
    expect(flood(watching({ mode: 'monitoring' }))).toEqual({
      'passed none': 500,
      'wouldDrop newClient': 2500,
    });
    expect(flood(watching({ mode: 'disabled' }))).toEqual({ 'passed none': 3000 });
  });

  it('are distinguished from known clients after a restart during a flood', () => {
    const before = watching();
    flood(before);
    const again = guarded({ profile_sensitivity: 'very_high' });
    again.restore(JSON.parse(JSON.stringify(before.learned(NOW))), NOW);
    expect(flood(again)['passed none']).toBeLessThanOrEqual(500);
    expect(verdicts(again, { client: USER, queries: 40 })).toEqual({ 'passed none': 40 });
  });
});

describe('access lists', () => {
  const lists = {
    networks: [
      { network: parseNetwork('192.0.2.0/24'), access: 'deny' },
      { network: parseNetwork('192.0.2.7'), access: 'allow' },
    ],
    names: [
      { name: `dyn.${ZONE}`, access: 'allow' },
      { name: `h1.${ZONE}`, access: 'deny' },
    ],
  } as const;

  it('apply before all rules and without a rule, networks before names', () => {
    for (const settings of [{}, { mode: 'disabled' }, { mode: 'monitoring' }] as const) {
      const detector = guarded(settings);
      detector.setAccessLists(lists);
      const decide = (name: string, client: string) =>
        verdictText(detector.decide(question(name), NOW, client));
      expect(decide('h2', '192.0.2.1')).toBe('dropped accessList');
      expect(decide('h1', '192.0.2.7')).toBe('passed accessList');
      expect(decide('h1', '198.51.100.1')).toBe('dropped accessList');
      expect(decide('x.dyn', '192.0.2.1')).toBe('dropped accessList');
      const tcp = { address: '::ffff:192.0.2.1', client: '192.0.2.1' };
      expect(verdictText(detector.overTcp.decide(question('h2'), tcp, NOW))).toBe('dropped accessList');
    }
  });

  it.each([
    ['h1', 'is denied'],
    ['x.h1', 'is denied'],
    ['x.dyn', 'passes'],
  ])('explain the verdict for %s: %s', (name, verdict) => {
    const detector = guarded({});
    detector.setAccessLists(lists);
    const asked = { name: `${name}.${ZONE}`, type: { name: 'A', number: 1 } };
    expect(explain(detector, asked, NOW)).toMatchObject({ verdict, reason: 'accessList' });
    detector.setAccessLists({ networks: lists.networks, names: [] });
    expect(explain(detector, asked, NOW)).not.toMatchObject({ reason: 'accessList' });
  });

  it('allowed queries do not pay, have no limit and are not an attack', () => {
    const detector = guarded({});
    detector.setAccessLists(lists);
    for (let i = 0; i < 5000; i++) {
      expect(verdictText(detector.decide(question(`x${i}`), NOW, '192.0.2.7'))).toBe('passed accessList');
      expect(verdictText(detector.decide(question(`x${i}.dyn`), NOW, '198.51.100.1'))).toBe(
        'passed accessList',
      );
    }
    detector.tick(NOW + 1000);
    expect(detector.attack).toBe(false);
    expect(verdicts(detector, { client: '198.51.100.1', queries: 100 })).toMatchObject({ 'passed none': 99 });
    detector.setAccessLists({ networks: [], names: [] });
    expect(verdicts(detector, { client: '192.0.2.1', queries: 10 })).toEqual({ 'passed none': 10 });
  });
});

describe('unknown names over TCP', () => {
  const client = (i: number) => ({ address: `198.51.100.${i}`, client: `198.51.100.${i}` });

  it('have a limit per client and a joint limit, and use no UDP tokens', () => {
    const detector = guarded({});
    let asked = 0;
    const passed = (i: number) => {
      let count = 0;
      for (let j = 0; j < 1000; j++)
        if (outcomeOf(detector.overTcp.decide(question(`x${asked++}`), client(i), NOW)) === 'paid') count++;
      return count;
    };
    expect(passed(1)).toBe(50);
    expect(Array.from({ length: 20 }, (_, i) => passed(i + 2)).reduce((a, b) => a + b)).toBe(350);
    expect(detector.tokens(NOW)).toBe(500);
    // A repeated name may use the reserve.
    expect(verdictText(detector.overTcp.decide(question(`x${asked - 1}`), client(30), NOW))).toBe(
      'paid unknownName',
    );
    expect(detector.attack).toBe(true);
  });

  it('pay at sensitivity low once they are an attack on their zone', () => {
    const detector = guarded({ profile_sensitivity: 'low' });
    const outcomes: string[] = [];
    for (let i = 0; i < 3000; i++)
      outcomes.push(outcomeOf(detector.overTcp.decide(question(`x${i}`), client(1), NOW)));
    expect(outcomes.slice(0, 50)).toEqual(Array(50).fill('passed'));
    expect(outcomes.slice(2000)).toEqual(Array(1000).fill('dropped'));
  });
});
