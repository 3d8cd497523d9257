import { expect, it } from 'vitest';
import type { Rule } from '../../rules/index.ts';
import { networkHash, QueryType, questionOf, typeBit } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { PolicyReplay, type ReplayResult, type Sensitivities } from './policyReplay.ts';
import { outcomeOf, reasonOf, type Verdict } from './verdict.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const SPAN_MS = 60 * SECOND_MS;
const ZONE = 'example.test';
const RATED = 'rated.test';
const NAMES = 200;
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

/** Returns a guard that is ready, with one seeded zone and one that is judged by rate. */
function guard(rule: Rule | undefined): AttackDetector {
  const thresholds = { unknownPerSecond: 1000, accountUnknownPerSecond: 5000, ratePerSecond: 100 };
  const options = { learnForMinutes: 0, profile: { maxNames: 10_000 }, thresholds };
  const detector = new AttackDetector(KEY, options, NOW);
  const zone = detector.zones.add(ZONE);
  for (let n = 0; n < NAMES; n++)
    detector.profile.seed(questionOf(`h${n}.${ZONE}`, QueryType.A, KEY), typeBit(QueryType.A));
  if (zone !== undefined) detector.noteSeeded(zone);
  const rated = detector.zones.add(RATED);
  if (rated !== undefined) rated.anyNameExists = true;
  detector.history.restore([[NOW / 60_000 - 12, 50]]);
  // One client has been known for some time, so that all clients below are new.
  for (const hours of [2, 0]) detector.clients.note(networkHash('203.0.113.1'), NOW - hours * 3_600_000);
  detector.tick(NOW);
  detector.setRule(rule, NOW);
  // Limits do not grow during the run, because the servers are overloaded.
  detector.setUpstreamsHealthy(false, NOW);
  detector.tick(NOW);
  return detector;
}

/**
 * Queries of all kinds at `perSecond`: users; known names with unknown types; new names that are queried again; random
 * names in three waves; a zone that is judged by rate; one client far above its limit.
 */
function* traffic(seconds: number, perSecond: number) {
  for (let n = 0; n < seconds * perSecond; n++) {
    const timeMs = NOW + Math.floor((n * SECOND_MS) / perSecond);
    const second = Math.floor(n / perSecond);
    const kind = (n * 7919) % 20;
    const isWave = second % 7 < 4;
    const client = kind < 6 ? '192.0.2.1' : `198.51.100.${n % 250}`;
    const [name, type] =
      kind < 8
        ? [`h${n % NAMES}.${ZONE}`, QueryType.A]
        : kind < 10
          ? [`h${n % NAMES}.${ZONE}`, QueryType.TXT]
          : kind < 12
            ? [`new${Math.floor(n / 60)}.${ZONE}`, QueryType.A]
            : kind < 14
              ? [`u${n}.${RATED}`, QueryType.A]
              : isWave
                ? [`r${(n * 31).toString(36)}x.${ZONE}`, QueryType.A]
                : [`h${n % 3}.${ZONE}`, QueryType.A];
    yield { timeMs, question: questionOf(name, type, KEY), client, second };
  }
}

/** Runs the traffic, and counts the verdicts in the form of a replay. */
function run(detector: AttackDetector, seconds: number, perSecond: number): ReplayResult {
  const counted = { paying: 0, limited: 0, knownLimited: 0, clientLimited: 0 };
  let ticked = 0;
  for (const { timeMs, question, client, second } of traffic(seconds, perSecond)) {
    for (; ticked < second; ticked++) detector.tick(NOW + (ticked + 1) * SECOND_MS);
    const isKnown = detector.profile.find(question.hashHigh, question.hashLow) >= 0;
    const verdict: Verdict = detector.decide(question, timeMs, client);
    const [outcome, reason] = [outcomeOf(verdict), reasonOf(verdict)];
    if (reason === 'clientRate' || reason === 'newClient') {
      counted.clientLimited++;
      continue;
    }
    if (outcome !== 'passed') counted.paying++;
    if (outcome !== 'dropped') continue;
    counted.limited++;
    if (isKnown) counted.knownLimited++;
  }
  return counted;
}

const ALL: readonly Sensitivities[] = (['low', 'medium', 'high', 'very_high'] as const).flatMap(
  (profile_sensitivity) =>
    (['low', 'medium', 'high'] as const).map((sensitivity) => ({
      profile_sensitivity,
      rate_sensitivity: sensitivity,
      burst_sensitivity: sensitivity,
    })),
);

it.each([
  ['without a rule', undefined],
  ['under a rule in monitoring', { ...RULE, mode: 'monitoring' } as const],
  ['under an enabled rule', { ...RULE, profile_sensitivity: 'high', rate_sensitivity: 'high' } as const],
])('the replay of queries recorded %s equals the decisions of a real guard', (_name, rule) => {
  const recorded = guard(rule);
  const [seconds, perSecond] = [25, 240];
  run(recorded, seconds, perSecond);
  const again = new PolicyReplay(recorded, recorded.decisions(NOW + seconds * SECOND_MS, SPAN_MS));
  const seen = new Set<number>();
  for (const sensitivities of ALL) {
    const other = run(guard({ ...RULE, ...sensitivities }), seconds, perSecond);
    expect(again.replay(sensitivities), JSON.stringify(sensitivities)).toEqual(other);
    seen.add(other.limited);
  }
  // The results must differ between sensitivities for the comparison to be meaningful.
  expect(seen.size).toBeGreaterThan(3);
});

it('the replay of a sampled flood is accurate to some percent', () => {
  const recorded = guard({ ...RULE, mode: 'monitoring' });
  const [seconds, perSecond] = [6, 8_000];
  run(recorded, seconds, perSecond);
  const decisions = recorded.decisions(NOW + seconds * SECOND_MS, SPAN_MS);
  expect(decisions.samples.length).toBeLessThan(6_000);
  const again = new PolicyReplay(recorded, decisions);
  for (const sensitivities of ALL.filter(({ rate_sensitivity }) => rate_sensitivity === 'medium')) {
    const reported = again.replay(sensitivities);
    const real = run(guard({ ...RULE, ...sensitivities }), seconds, perSecond);
    for (const member of ['paying', 'limited', 'knownLimited'] as const)
      expect(
        Math.abs(reported[member] - real[member]),
        `${member} ${JSON.stringify([sensitivities, reported, real])}`,
      ).toBeLessThan(0.1 * real[member] + 1500);
  }
});
