/** Traffic allowed by an access list: it passes, teaches existing names, and affects no rate, share or attack. */
import { expect, it } from 'vitest';
import { parseNetwork } from '../../platform/addresses/index.ts';
import type { Rule } from '../../rules/index.ts';
import {
  AnswerKind,
  nameToWire,
  QueryType,
  queryPacket,
  questionOf,
  questionOfWire,
} from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { outcomeOf, reasonOf } from './verdict.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const ZONE = 'example.test';
const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'very_high',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};
const ALLOWED = '198.51.100.7';
const OTHER = '192.0.2.1';

function guard(): AttackDetector {
  const detector = new AttackDetector(KEY, { learnForMinutes: 0, profile: { maxNames: 10_000 } }, NOW);
  const seed = new ZoneSeed({ zone: ZONE }, { detector });
  for (let n = 0; n < 100; n++) seed.add(nameToWire(`h${n}.${ZONE}`), 'A');
  seed.add(nameToWire(`*.users.${ZONE}`), 'A');
  seed.finish();
  detector.setRule(RULE, NOW);
  detector.setAccessLists({
    networks: [{ network: parseNetwork('198.51.100.0/24'), access: 'allow' }],
    names: [{ name: `dyn.${ZONE}`, access: 'allow' }],
  });
  return detector;
}

/** Returns a response to the question with one record, or with none if `rcode` is not 0. */
function responseTo(name: string, type: number, rcode: number): Uint8Array {
  const packet = queryPacket(nameToWire(name), type);
  packet[2] = (packet[2] ?? 0) | 0x80;
  packet[3] = rcode;
  packet[7] = rcode === 0 ? 1 : 0;
  return packet;
}

interface Traffic {
  readonly seconds: number;
  readonly perSecond: number;
  readonly client: string;
  readonly nameOf: (n: number) => string;
  readonly type?: number;
  readonly rcode?: number;
  readonly overTcp?: boolean;
}

/** Answers each query. Returns the verdicts that occurred. */
function run(detector: AttackDetector, startMs: number, traffic: Traffic): string[] {
  const { seconds, perSecond, client, nameOf, type = QueryType.A, rcode = 0, overTcp = false } = traffic;
  const seen = new Set<string>();
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond; i++) {
      const name = nameOf(second * perSecond + i);
      const nowMs = startMs + second * SECOND_MS + (i * SECOND_MS) / perSecond;
      const question = questionOfWire(nameToWire(name), type, KEY);
      const verdict = overTcp
        ? detector.overTcp.decide(question, { address: client, client }, nowMs)
        : detector.decide(question, nowMs, client);
      seen.add(`${outcomeOf(verdict)} ${reasonOf(verdict)}`);
      detector.learnAnswer(responseTo(name, type, rcode), question, client, nowMs, overTcp);
    }
    detector.tick(startMs + (second + 1) * SECOND_MS);
  }
  return [...seen];
}

const nxdomain = AnswerKind.nxdomain;
const classes: readonly [string, Omit<Traffic, 'seconds' | 'perSecond'>][] = [
  ['names that do not exist', { client: ALLOWED, nameOf: (n) => `r${n}.${ZONE}`, rcode: nxdomain }],
  ['names outside every zone', { client: ALLOWED, nameOf: (n) => `r${n}.other.test`, rcode: nxdomain }],
  ['new names under a wildcard', { client: ALLOWED, nameOf: (n) => `u${n}.users.${ZONE}` }],
  ['one known name', { client: ALLOWED, nameOf: () => `h1.${ZONE}` }],
  ['known names with an unknown type', { client: ALLOWED, nameOf: (n) => `h${n % 100}.${ZONE}`, type: 16 }],
  ['answers with SERVFAIL', { client: ALLOWED, nameOf: (n) => `h${n % 100}.${ZONE}`, rcode: 2 }],
  ['names below an allowed name', { client: OTHER, nameOf: (n) => `r${n}.dyn.${ZONE}`, rcode: nxdomain }],
  ['queries over TCP', { client: ALLOWED, nameOf: (n) => `r${n}.${ZONE}`, rcode: nxdomain, overTcp: true }],
];

it.each(classes)('allowed traffic of 1,500 queries/s affects no rate, share or attack: %s', (_, traffic) => {
  const detector = guard();
  const honest = { seconds: 61, perSecond: 50, client: OTHER, nameOf: (n: number) => `h${n % 100}.${ZONE}` };
  run(detector, NOW, honest);
  const state = (nowMs: number) => {
    const { rates, clients, zones } = detector.learned(nowMs);
    const bare = zones.map(({ days: _days, ...zone }) => zone);
    return [rates, clients?.places, bare, detector.attack, detector.tokens(nowMs)];
  };
  const laterMs = NOW + 61 * SECOND_MS;
  const before = state(laterMs + 3 * SECOND_MS);
  expect(run(detector, laterMs, { ...traffic, seconds: 3, perSecond: 1500 })).toEqual(['passed accessList']);
  expect(state(laterMs + 3 * SECOND_MS)).toEqual(before);
  expect(detector.zones.all().some((zone) => zone.isReported(laterMs + 3 * SECOND_MS))).toBe(false);
});

it('an allowed flood does not prevent a zone from learning names of other clients', () => {
  const detector = guard();
  const flood = { client: ALLOWED, nameOf: (n: number) => `r${n}.${ZONE}`, rcode: nxdomain };
  const asked = { seconds: 1, perSecond: 1, nameOf: () => `new.${ZONE}` };
  run(detector, NOW, { ...flood, seconds: 2, perSecond: 1500 });
  run(detector, NOW + 2000, { ...asked, client: '192.0.2.1' });
  run(detector, NOW + 3000, { ...asked, client: '203.0.113.1' });
  expect(isKnown(detector, `new.${ZONE}`)).toBe(true);
});

it('allowed traffic teaches names that exist, and only these', () => {
  const detector = guard();
  // One network proves that it needs a name by a second query some minutes later.
  for (const [name, rcode] of [
    [`found.${ZONE}`, 0],
    [`none.${ZONE}`, nxdomain],
  ] as const)
    for (const afterMs of [0, 180 * SECOND_MS])
      run(detector, NOW + afterMs, { seconds: 1, perSecond: 1, client: ALLOWED, nameOf: () => name, rcode });
  expect([isKnown(detector, `found.${ZONE}`), isKnown(detector, `none.${ZONE}`)]).toEqual([true, false]);
});

function isKnown(detector: AttackDetector, name: string): boolean {
  const { hashHigh, hashLow } = questionOf(name, QueryType.A, KEY);
  return detector.profile.find(hashHigh, hashLow) >= 0;
}
