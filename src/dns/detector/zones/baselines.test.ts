import { describe, expect, it } from 'vitest';
import { Baselines, type ZoneCounts } from './baselines.ts';

const LEARN_FOR_SECONDS = 4 * 3600;
const MINUTES_PER_DAY = 1440;
const QUIET: ZoneCounts = { seconds: 60, queries: 6000, unknown: 0, learned: 0, answers: 0, nxdomains: 0 };

/** Returns the counts of a minute with this number of unknown names per second among 100 queries per second. */
const minute = (unknownPerSecond: number): ZoneCounts => ({ ...QUIET, unknown: 60 * unknownPerSecond });

/** Returns baselines after `learnForSeconds` of traffic without unknown names. */
function established(): Baselines {
  const usual = new Baselines(LEARN_FOR_SECONDS);
  for (let seconds = 0; seconds < LEARN_FOR_SECONDS; seconds += 60) usual.learnRates(QUIET, true);
  return usual;
}

describe('the peak of unknown names', () => {
  it('moves towards a higher minute by a sixtieth of the difference', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    usual.learnUnknown(minute(80), false);
    expect(usual.unknownPeakPerSecond).toBeCloseTo(50 + 30 / 60, 9);
  });

  it('halves in a day of lower minutes, whatever they are', () => {
    for (const unknown of [0, 20]) {
      const usual = new Baselines(LEARN_FOR_SECONDS);
      for (let i = 0; i < MINUTES_PER_DAY; i++) usual.learnUnknown(minute(unknown), false);
      expect(usual.unknownPeakPerSecond).toBeCloseTo(25, 6);
    }
  });

  it('at most doubles per day under attack, from ten per second on', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    for (let i = 0; i < MINUTES_PER_DAY; i++) usual.learnUnknown(minute(5000), true);
    expect(usual.unknownPeakPerSecond).toBeCloseTo(100, 6);
    usual.unknownPeakPerSecond = 1;
    for (let i = 0; i < MINUTES_PER_DAY; i++) usual.learnUnknown(minute(5000), true);
    expect(usual.unknownPeakPerSecond).toBeGreaterThanOrEqual(10);
    expect(usual.unknownPeakPerSecond).toBeLessThanOrEqual(20);
  });
});

describe('the busy rate of unknown names', () => {
  it('grows freely while the zone is fresh, by a fifth of the difference per minute', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    usual.learnUnknown(minute(1000), false);
    expect(usual.unknownBusyPerSecond).toBeCloseTo(200, 9);
  });

  it('at most doubles per day after that, from 33 per second on', () => {
    const usual = established();
    expect(usual.isFresh).toBe(false);
    usual.learnUnknown(minute(1000), false);
    expect(usual.unknownBusyPerSecond).toBeCloseTo(100 / 3, 9);
    for (let i = 0; i < MINUTES_PER_DAY; i++) usual.learnUnknown(minute(1000), false);
    expect(usual.unknownBusyPerSecond).toBeCloseTo(200 / 3, 6);
  });

  it('fades by a ten-thousandth per quieter minute', () => {
    const usual = established();
    usual.unknownBusyPerSecond = 80;
    usual.learnUnknown(minute(79), false);
    expect(usual.unknownBusyPerSecond).toBeCloseTo(80 * 0.9999, 9);
  });
});

describe('the mean of unknown names', () => {
  it('moves by a sixtieth of the difference per minute, but not in a minute with an attack', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    usual.learnUnknown(minute(60), false);
    expect(usual.unknownPerSecond).toBeCloseTo(1, 9);
    usual.learnUnknown({ ...minute(600), seconds: 30 }, true);
    usual.learnUnknown({ ...minute(600), seconds: 30 }, false);
    expect(usual.unknownPerSecond).toBeCloseTo(1, 9);
    usual.learnUnknown(minute(61), false);
    expect(usual.unknownPerSecond).toBeCloseTo(2, 9);
  });

  it('moves as much in one tick of two minutes as in two minutes', () => {
    const [late, punctual] = [new Baselines(LEARN_FOR_SECONDS), new Baselines(LEARN_FOR_SECONDS)];
    late.learnUnknown({ ...minute(60), seconds: 120, queries: 12_000, unknown: 7200 }, false);
    for (let i = 0; i < 2; i++) punctual.learnUnknown(minute(60), false);
    expect(late.unknownPerSecond).toBeCloseTo(punctual.unknownPerSecond, 9);
    expect(late.unknownShare).toBeCloseTo(punctual.unknownShare, 9);
  });

  it('changes only when the minute is complete', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    const before = usual.unknownNames();
    for (let second = 0; second < 59; second++)
      usual.learnUnknown({ ...QUIET, seconds: 1, queries: 10, unknown: 10 }, false);
    expect(usual.unknownNames()).toEqual(before);
    usual.learnUnknown({ ...QUIET, seconds: 1, queries: 10, unknown: 10 }, false);
    expect(usual.unknownNames()).not.toEqual(before);
  });
});

describe('the shares of unknown names and of NXDOMAIN', () => {
  it('move by a fifth of the difference per minute in a fresh zone, and later by a twentieth', () => {
    for (const [usual, weight] of [
      [new Baselines(LEARN_FOR_SECONDS), 1 / 5],
      [established(), 1 / 20],
    ] as const) {
      usual.learnUnknown({ ...minute(70), answers: 100, nxdomains: 60 }, false);
      expect(usual.unknownShare).toBeCloseTo(0.2 + weight * 0.5, 9);
      expect(usual.nxdomainShare).toBeCloseTo(0.2 + weight * 0.4, 9);
    }
  });

  it('do not change without answers, and never exceed 1', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    for (let i = 0; i < 200; i++) usual.learnUnknown({ ...minute(200), queries: 6000 }, false);
    expect(usual.nxdomainShare).toBe(0.2);
    expect(usual.unknownShare).toBeCloseTo(1, 9);
    expect(usual.unknownShare).toBeLessThanOrEqual(1);
  });
});

it('a pause of the machine counts as ten minutes at most', () => {
  const usual = new Baselines(LEARN_FOR_SECONDS);
  usual.learnRates({ ...QUIET, seconds: 86_400 }, true);
  expect(usual.learnedSeconds).toBe(600);
});

it('a reset of the unknown names also discards those of the current minute', () => {
  const usual = new Baselines(LEARN_FOR_SECONDS);
  const initial = usual.unknownNames();
  usual.learnUnknown(minute(90), false);
  usual.learnUnknown({ ...minute(90), seconds: 59 }, false);
  usual.resetUnknown(initial);
  expect(usual.unknownNames()).toEqual(initial);
  usual.learnUnknown({ ...QUIET, seconds: 1, queries: 1 }, false);
  expect(usual.unknownPerSecond).toBe(0);
});

describe('restored baselines', () => {
  const stored = {
    name: 'example.test',
    unknownShare: 0.3,
    nxdomainShare: 0.1,
    unknownPerSecond: 4,
    ratePerSecond: 500,
    learnedSeconds: 9000,
    positiveAnswers: 0,
    onceOnlyAnswers: 0,
  };

  it('are the stored ones', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    usual.restore({
      ...stored,
      unknownPeakPerSecond: 7,
      unknownBusyPerSecond: 6,
      busiestUnknownPerSecond: 20,
      busiestLearnedPerSecond: 30,
    });
    expect(usual.unknownNames()).toEqual({
      unknownShare: 0.3,
      unknownPerSecond: 4,
      unknownPeakPerSecond: 7,
      unknownBusyPerSecond: 6,
    });
    expect([usual.nxdomainShare, usual.learnedSeconds]).toEqual([0.1, 9000]);
    const { all, unknown, learned } = usual.busiest;
    expect([all.perSecond, unknown.perSecond, learned.perSecond]).toEqual([500, 20, 30]);
  });

  it('have safe values for members that were not stored', () => {
    const usual = new Baselines(LEARN_FOR_SECONDS);
    usual.restore(stored);
    expect([usual.unknownPeakPerSecond, usual.unknownBusyPerSecond]).toEqual([50, 4]);
    expect([usual.busiest.unknown.perSecond, usual.busiest.learned.perSecond]).toEqual([500, 500]);
    usual.restore({ ...stored, unknownPeakPerSecond: 9 });
    expect(usual.unknownBusyPerSecond).toBe(9);
  });
});
