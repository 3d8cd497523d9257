import { AttackDetector, outcomeOf } from '../../src/dns/detector/index.ts';
import { QueryType, questionOf, typeBit } from '../../src/dns/protocol/index.ts';

const KEY = { high: 0x9e3779b1, low: 0x7f4a7c15 };
const ZONE = 'example.test';
const NAMES = 50_000;
const QUERIES = 1_000_000;
/**
 * Ten times the floor of the thresholds: its 20 % of unknown names would exceed a bucket without a learned baseline.
 */
const PER_SECOND = 1000;
const NXDOMAIN_SHARE = 0.2;
/** Share of new names among the names that exist: just published, and not seeded. */
const NEW_NAME_SHARE = 0.01;
const NOERROR = 0;
const NXDOMAIN = 3;

export interface AttackFreeFigures {
  readonly queries: number;
  readonly dropped: number;
  readonly attackSeconds: number;
}

/**
 * Simulates a million legitimate queries at `medium`, 1,000 per second of the detector's clock, and returns how many
 * it drops.
 */
export function benchAttackFree(): AttackFreeFigures {
  const startMs = Date.UTC(2026, 10, 21);
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100_000 } }, startMs);
  const zone = detector.zones.add(ZONE);
  if (zone !== undefined) detector.noteSeeded(zone);
  const known = Array.from({ length: NAMES }, (_, n) => questionOf(`h${n}.${ZONE}`, QueryType.A, KEY));
  for (const question of known) detector.profile.seed(question, typeBit(QueryType.A));
  const stamp = '2026-11-20T10:00:00.000000+00:00';
  detector.setRule(
    {
      id: 'bench',
      scope: 'global',
      name: 'global',
      mode: 'enabled',
      profile_sensitivity: 'medium',
      rate_sensitivity: 'medium',
      burst_sensitivity: 'medium',
      created_on: stamp,
      modified_on: stamp,
    },
    startMs,
  );
  let dropped = 0;
  let attackSeconds = 0;
  for (let i = 0; i < QUERIES; i++) {
    const nowMs = startMs + (i * 1000) / PER_SECOND;
    const isTypo = Math.random() < NXDOMAIN_SHARE;
    const isNew = !isTypo && Math.random() < NEW_NAME_SHARE;
    const host = Math.floor(Math.random() * NAMES);
    const name = isTypo ? `h${host}${'qwertz'[i % 6]}` : `new${Math.floor(i / 5000)}`;
    const question = isTypo || isNew ? questionOf(`${name}.${ZONE}`, QueryType.A, KEY) : known[host];
    if (question === undefined) continue;
    const outcome = outcomeOf(detector.decide(question, nowMs));
    if (outcome === 'dropped') dropped++;
    else detector.learn(question, { kind: isTypo ? NXDOMAIN : NOERROR, network: i & 0xffff }, nowMs);
    if ((i + 1) % PER_SECOND === 0) {
      detector.tick(nowMs);
      if (detector.attack) attackSeconds++;
    }
  }
  return { queries: QUERIES, dropped, attackSeconds };
}
