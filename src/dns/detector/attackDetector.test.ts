import { describe, expect, it } from 'vitest';
import { reusedQuestion } from '../../../test/dns/support/reusedQuestion.ts';
import { zonePolicy } from '../../../test/dns/support/zonePolicy.ts';
import type { Rule } from '../../rules/index.ts';
import { nameToWire, QueryType, queryPacket, questionOf, typeBit } from '../protocol/index.ts';
import { AttackDetector, type DetectorOptions } from './attackDetector.ts';
import { outcomeOf, outcomes, reasonOf, type Verdict } from './verdict.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const ZONE = 'example.test';
const NOERROR = 0;
const NXDOMAIN = 3;
const NAMES = 1000;

const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};

const question = (name: string, type: number = QueryType.A) => questionOf(name, type, KEY);
const knownQuestions = Array.from({ length: NAMES }, (_, n) => question(`h${n}.${ZONE}`));
const known = (n: number) => knownQuestions[n % NAMES] ?? question(ZONE);
let randoms = 0;
const random = () => reusedQuestion(`r${(randoms++).toString(36)}x.${ZONE}`, KEY);

/** Returns a detector with a seeded zone of a thousand names. */
function seeded(rule: Partial<Rule> = {}, options: Partial<DetectorOptions> = {}): AttackDetector {
  const detector = new AttackDetector(
    KEY,
    { profile: { maxNames: 10_000 }, ...options },
    NOW - 11 * MINUTE_MS,
  );
  const zone = detector.zones.add(ZONE);
  for (let n = 0; n < NAMES; n++) {
    detector.profile.seed(known(n), typeBit(QueryType.A));
  }
  if (zone !== undefined) detector.noteSeeded(zone);
  // A quiet minute in the past: the threshold is based on traffic, and the next one is due.
  detector.history.restore([[NOW / MINUTE_MS - 12, 50]]);
  detector.tick(NOW - 11 * MINUTE_MS);
  detector.tick(NOW);
  detector.setRule({ ...RULE, ...rule }, NOW);
  return detector;
}

interface Traffic {
  seconds: number;
  known?: number;
  random?: number;
  startMs?: number;
}
/** Runs traffic with the answers of a server. Counts the outcomes for known and for random names. */
function run(
  detector: AttackDetector,
  { seconds, known: knownRate = 0, random: randomRate = 0, startMs = NOW }: Traffic,
) {
  const count = () => Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<string, number>;
  const seen = { known: count(), random: count() };
  const total = knownRate + randomRate;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < total; i++) {
      const nowMs = startMs + second * SECOND_MS + (i * SECOND_MS) / total;
      const isKnown = (i * knownRate) % total < knownRate;
      const asked = isKnown ? known(i + second * total) : random();
      const verdict = detector.decide(asked, nowMs);
      const outcome = outcomeOf(verdict);
      const tally = isKnown ? seen.known : seen.random;
      tally[outcome] = (tally[outcome] ?? 0) + 1;
      if (outcome !== 'dropped' && outcome !== 'truncated')
        detector.learn(asked, { kind: isKnown ? NOERROR : NXDOMAIN, network: i + second }, nowMs);
    }
    detector.tick(startMs + (second + 1) * SECOND_MS);
  }
  return seen;
}
const limited = (counts: Record<string, number>) => (counts['dropped'] ?? 0) + (counts['truncated'] ?? 0);
/** Empties the bucket with a name outside the zone, so that the zone is not attacked. */
function drain(detector: AttackDetector, nowMs = NOW) {
  for (let i = 0; i < 2000 && detector.tokens(nowMs) >= 1; i++)
    detector.decide(question('drain.other.test'), nowMs);
}
const verdictText = (verdict: Verdict) => `${outcomeOf(verdict)} ${reasonOf(verdict)}`;

describe('verdicts with an empty bucket and no attack on the zone', () => {
  const kinds = {
    'a known name': () => known(1),
    'a known name with an unknown type': () => question(`h1.${ZONE}`, QueryType.TXT),
    'an unknown name': () => random(),
  };
  const table = [
    ['low', 'passed none', 'passed none', 'passed none'],
    ['medium', 'passed none', 'passed none', 'dropped unknownName'],
    ['high', 'passed none', 'dropped unknownType', 'dropped unknownName'],
    ['very_high', 'passed none', 'dropped unknownType', 'dropped unknownName'],
  ] as const;
  it.each(table)('%s', (profile_sensitivity, ...expected) => {
    const detector = seeded({ profile_sensitivity: 'medium' });
    drain(detector);
    detector.setRule({ ...RULE, profile_sensitivity }, NOW);
    expect(Object.values(kinds).map((make) => verdictText(detector.decide(make(), NOW)))).toEqual(expected);
  });

  it('at very_high, a known name pays above its usual rate', () => {
    const detector = seeded({ profile_sensitivity: 'very_high' });
    drain(detector);
    const verdicts = Array.from({ length: 60 }, () => verdictText(detector.decide(known(1), NOW)));
    expect(verdicts.slice(0, 50)).toEqual(Array(50).fill('passed none'));
    expect(verdicts.slice(50)).toEqual(Array(10).fill('dropped aboveUsual'));
  });
});

describe('a flood of random names', () => {
  it.each(['low', 'medium', 'high', 'very_high'] as const)(
    'at %s, every known name passes, and 99 of 100 flood queries are dropped',
    (profile_sensitivity) => {
      const detector = seeded({ profile_sensitivity });
      const seen = run(detector, { seconds: 12, known: 500, random: 20_000 });
      expect(seen.known).toMatchObject({ passed: 6000 });
      expect(limited(seen.random) / 240_000).toBeGreaterThan(0.99);
    },
  );

  it('passes at the rate of the bucket', () => {
    const detector = seeded();
    run(detector, { seconds: 5, random: 2000 });
    const { random: later } = run(detector, { seconds: 10, random: 2000, startMs: NOW + 5 * SECOND_MS });
    expect(later['paid']).toBeGreaterThanOrEqual(995);
    expect(later['paid']).toBeLessThanOrEqual(1001);
  });

  it('does not make known names in mixed case pay', () => {
    const detector = seeded();
    drain(detector);
    expect(verdictText(detector.decide(question('H17.eXaMpLe.TEST'), NOW))).toBe('passed none');
  });

  it('is counted but passes when the rule is monitoring', () => {
    const seen = run(seeded({ mode: 'monitoring' }), { seconds: 3, known: 500, random: 5000 });
    expect(limited(seen.random) + limited(seen.known)).toBe(0);
    expect(seen.random['wouldDrop']).toBeGreaterThan(14_000);
    expect(seen.known).toMatchObject({ passed: 1500 });
  });

  it('passes when the rule is disabled or missing', () => {
    const disabled = seeded({ mode: 'disabled' });
    expect(run(disabled, { seconds: 2, random: 5000 }).random).toMatchObject({ passed: 10_000 });
    disabled.setRule(undefined, NOW);
    expect(run(disabled, { seconds: 2, random: 5000 }).random).toMatchObject({ passed: 10_000 });
  });

  it('is answered with TC=1 if configured', () => {
    const seen = run(seeded({}, { limitAction: 'truncate' }), { seconds: 2, random: 5000 });
    expect(seen.random['truncated']).toBeGreaterThan(9000);
    expect(seen.random['dropped']).toBe(0);
  });

  it('does not drop a new name that is queried twice', () => {
    const detector = seeded();
    run(detector, { seconds: 5, known: 500, random: 20_000 });
    const at = NOW + 5 * SECOND_MS;
    for (let i = 0; i < 20; i++) {
      detector.decide(question(`new${i}.${ZONE}`), at);
      for (let j = 0; j < 1000; j++) detector.decide(random(), at + 500);
      expect(verdictText(detector.decide(question(`new${i}.${ZONE}`), at + SECOND_MS))).toBe(
        'paid unknownName',
      );
    }
  });

  it('rate and burst sensitivity scale rate and burst of the bucket independently', () => {
    const paid = (rate: Rule['rate_sensitivity'], burst: Rule['burst_sensitivity']) => {
      const detector = seeded({ rate_sensitivity: rate, burst_sensitivity: burst });
      return detector.bucketSize();
    };
    expect(paid('low', 'high')).toEqual({ ratePerSecond: 200, burst: 250 });
    expect(paid('high', 'low')).toEqual({ ratePerSecond: 50, burst: 1000 });
  });
});

describe('an attack', () => {
  it('is noticed within the first second and ends half a minute after its last queries', () => {
    const detector = seeded();
    run(detector, { seconds: 3, known: 500, random: 50 });
    expect(detector.attack).toBe(false);
    for (let i = 0; i < 2000; i++) detector.decide(random(), NOW + 3 * SECOND_MS);
    expect(detector.attack).toBe(true);
    run(detector, { seconds: 25, known: 500, startMs: NOW + 4 * SECOND_MS });
    expect(detector.attack).toBe(true);
    run(detector, { seconds: 10, known: 500, startMs: NOW + 29 * SECOND_MS });
    expect(detector.attack).toBe(false);
  });

  it('teaches no name, rate or baseline', () => {
    const detector = seeded();
    run(detector, { seconds: 660, known: 300 });
    const attackMs = NOW + 660 * SECOND_MS;
    run(detector, { seconds: 5, known: 300, random: 20_000, startMs: attackMs });
    const before = [detector.profile.size, detector.zones.get(ZONE)?.learned()];
    for (let i = 0; i < 500; i++)
      for (const network of [1, 2])
        detector.learn(question(`poison${i}.${ZONE}`), { kind: NOERROR, network }, attackMs + 6 * SECOND_MS);
    run(detector, { seconds: 70, known: 3000, random: 2000, startMs: attackMs + 6 * SECOND_MS });
    expect([detector.profile.size, detector.zones.get(ZONE)?.learned()]).toEqual(before);
    expect(detector.history.threshold.ratePerSecond).toBe(300);
  });

  it('is not noticed in a rush of new names that exist, below the configured alarm', () => {
    const detector = seeded();
    for (let second = 0; second < 5; second++) {
      for (let i = 0; i < 900; i++) {
        const asked = question(`fresh${i}.${ZONE}`);
        const nowMs = NOW + second * SECOND_MS + i;
        if (outcomeOf(detector.decide(asked, nowMs)) !== 'dropped')
          detector.learn(asked, { kind: NOERROR, network: i + second }, nowMs);
      }
      detector.tick(NOW + (second + 1) * SECOND_MS);
    }
    run(detector, { seconds: 1, known: 10, startMs: NOW + 40 * SECOND_MS });
    expect(detector.attack).toBe(false);
    expect(
      detector.profile.find(question(`fresh1.${ZONE}`).hashHigh, question(`fresh1.${ZONE}`).hashLow),
    ).not.toBe(-1);
  });
});

describe('traffic without an attack', () => {
  it('with 20 % NXDOMAIN loses no query and is not an attack at any profile sensitivity', () => {
    for (const profile_sensitivity of ['low', 'medium', 'high', 'very_high'] as const) {
      const detector = seeded({ profile_sensitivity });
      const seen = run(detector, { seconds: 120, known: 400, random: 100 });
      expect(limited(seen.known) + limited(seen.random)).toBe(0);
      expect(detector.attack).toBe(false);
    }
  });
});

it('a seeded guard without history drops only attacks on a zone', () => {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW);
  const zone = detector.zones.add(ZONE);
  if (zone !== undefined) detector.noteSeeded(zone);
  detector.setRule(RULE, NOW);
  const background = run(detector, { seconds: 50, known: 300, random: 90 });
  expect(limited(background.random)).toBe(0);
  const flood = run(detector, { seconds: 5, random: 5000, startMs: NOW + 50 * SECOND_MS });
  expect(limited(flood.random)).toBeGreaterThan(23_000);
});

describe('a guard without a seed or history', () => {
  const fresh = () => {
    const detector = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW);
    detector.setRule(RULE, NOW);
    return detector;
  };

  it('drops nothing, counts queries that it would drop, and learns', () => {
    const detector = fresh();
    const seen = run(detector, { seconds: 10, known: 1000 });
    expect(seen.known['dropped']).toBe(0);
    expect(seen.known['wouldDrop']).toBeGreaterThan(0);
    expect(detector.profile.size).toBe(NAMES);
    expect(detector.ready).toBe(false);
  });

  it('is ready to drop after four hours without an attack', () => {
    const detector = fresh();
    run(detector, { seconds: 4 * 3600 + 61, known: 2 });
    expect(detector.ready).toBe(true);
  });

  it('never learns names that do not exist', () => {
    const detector = fresh();
    for (let i = 0; i < 1000; i++)
      for (const network of [1, 2, 3]) detector.learn(known(i), { kind: NXDOMAIN, network }, NOW);
    expect(detector.profile.size).toBe(0);
  });
});

describe('a zone whose names cannot be learned', () => {
  it('with a wildcard is judged by its own rate and does not use the bucket of other zones', () => {
    const detector = seeded({}, { learnForMinutes: 0 });
    const wild = detector.zones.add(`users.${ZONE}`);
    if (wild !== undefined) wild.anyNameExists = true;
    // While the servers answer in time, nothing is limited on the first day.
    detector.setUpstreamsHealthy(false, NOW);
    detector.tick(NOW);
    let outcome: string[] = [];
    for (let i = 0; i < 2000; i++)
      outcome.push(verdictText(detector.decide(question(`u${i}.users.${ZONE}`), NOW)));
    outcome = [...new Set(outcome)];
    expect(outcome).toEqual(['paid zoneRate', 'dropped zoneRate']);
    expect(detector.tokens(NOW)).toBe(500);
    expect(verdictText(detector.decide(random(), NOW))).toBe('paid unknownName');
  });

  it('passes when the servers are healthy again, also if the clock was set back', () => {
    const detector = seeded({}, { learnForMinutes: 0 });
    const wild = detector.zones.add(`users.${ZONE}`);
    if (wild !== undefined) wild.anyNameExists = true;
    detector.setUpstreamsHealthy(false, NOW);
    const earlierMs = NOW - 86_400_000;
    const laterMs = earlierMs + 600_000;
    for (const ms of [earlierMs, laterMs]) {
      detector.setUpstreamsHealthy(true, ms);
      detector.tick(ms);
    }
    for (let i = 0; i < 2000; i++)
      expect(verdictText(detector.decide(question(`u${i}.users.${ZONE}`), laterMs))).not.toMatch('dropped');
  });

  it('is recognised by one-time names, and passes at its usual rate', () => {
    const detector = new AttackDetector(KEY, { learnForMinutes: 1, profile: { maxNames: 10_000 } }, NOW);
    detector.zones.add('list.test');
    detector.setRule(RULE, NOW);
    let dropped = 0;
    for (let second = 0; second < 1500; second++) {
      for (let i = 0; i < 300; i++) {
        const asked = reusedQuestion(`k${second}-${i}.list.test`, KEY);
        const nowMs = NOW + second * SECOND_MS + i * 3;
        const outcome = outcomeOf(detector.decide(asked, nowMs));
        if (outcome === 'dropped' && second > 700) dropped++;
        if (outcome !== 'dropped') detector.learn(asked, { kind: NOERROR, network: i }, nowMs);
      }
      detector.tick(NOW + (second + 1) * SECOND_MS);
    }
    expect(detector.zones.get('list.test')?.byRate).toBe(true);
    expect(dropped).toBe(0);
    expect(detector.profile.size).toBe(0);
  });
});

it('a restarted detector has the state of the previous run', () => {
  const detector = seeded();
  run(detector, { seconds: 1300, known: 250, random: 20 });
  const again = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW + 1_300_000);
  for (const entry of detector.profile.entries()) again.profile.restore(entry);
  again.restore(detector.learned(NOW), NOW + 1_300_000);
  again.expectSeed(ZONE);
  expect(again.learned(NOW)).toEqual(detector.learned(NOW));
  expect(again.history.threshold.ratePerSecond).toBe(270);
});

it.each([
  [24, true],
  [25, false],
])('a zone that was under attack %i hours ago is under attack after a restart: %s', (hours, isAttacked) => {
  const before = new AttackDetector(KEY, { profile: { maxNames: 1_000 } }, NOW);
  before.zones.add(ZONE)?.markAttacked(NOW);
  const nowMs = NOW + hours * 60 * MINUTE_MS;
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1_000 } }, nowMs);
  detector.restore(before.learned(NOW), nowMs);
  expect(detector.zones.get(ZONE)?.attacked(nowMs)).toBe(isAttacked);
});

it.each([true, false])(
  'the account learns the rate of traffic only from healthy servers: %s',
  (areHealthy) => {
    const detector = seeded();
    detector.setUpstreamsHealthy(areHealthy, NOW);
    run(detector, { seconds: 11 * 60, known: 400 });
    expect(detector.bucketSize().ratePerSecond > 200).toBe(areHealthy);
  },
);

describe('answers for known names', () => {
  it('do not prove that a zone has one-time names', () => {
    const detector = seeded();
    run(detector, { seconds: 601, known: 2 });
    expect(detector.zones.get(ZONE)).toMatchObject({ byRate: false });
    expect(detector.zones.get(ZONE)?.learned()).toMatchObject({ positiveAnswers: 1202, onceOnlyAnswers: 0 });
  });

  it('are no such evidence while the policy of the zone has it judged by rate either', () => {
    const detector = seeded();
    detector.setZonePolicies([zonePolicy({ zone: ZONE, judge_by: 'rate' })], NOW);
    run(detector, { seconds: 601, known: 2 });
    expect(detector.zones.get(ZONE)?.byRate).toBe(true);
    detector.setZonePolicies([], NOW);
    expect(detector.zones.get(ZONE)?.byRate).toBe(false);
  });
});

it('an answer for a new name counts once as evidence of one-time names', () => {
  const detector = seeded();
  for (let i = 0; i < 10; i++) {
    const asked = question(`new${i}.${ZONE}`);
    for (const network of [1, 1, 2, 3]) detector.learn(asked, { kind: NOERROR, network }, NOW);
  }
  expect(detector.zones.get(ZONE)?.learned()).toMatchObject({ positiveAnswers: 40, onceOnlyAnswers: 10 });
});

it('an answer proves the address of its client only if the query came over TCP', () => {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW);
  const answer = queryPacket(nameToWire(`www.${ZONE}`), QueryType.A);
  answer[2] = 0x80; // response
  answer[7] = 1; // records
  const tenures = () => [...detector.profile.entries()].map(([, , firstNote]) => (firstNote >> 5) & 7);
  for (const client of ['192.0.2.1', '198.51.100.1', '203.0.113.1'])
    detector.learnAnswer(answer, question(`www.${ZONE}`), client, NOW);
  expect(tenures()).toEqual([0]);
  detector.learnAnswer(answer, question(`www.${ZONE}`), '192.0.2.1', NOW, true);
  expect(tenures()).toEqual([1]);
});

it('a recorded decision has the client of its query, and no client if the query had none', () => {
  const detector = seeded();
  for (const client of ['192.0.2.1', undefined, 'unix:@', '192.0.2.2'])
    detector.decide(known(1), NOW, client);
  const [first = 0, none, unreadable, last = 0] = detector
    .decisions(NOW + SECOND_MS, MINUTE_MS)
    .samples.map(({ client }) => client);
  expect([none, unreadable]).toEqual([0, 0]);
  expect(new Set([0, first, last]).size).toBe(3);
});
