import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newResponseTimes, ResponseTimes } from './responseTimes.ts';
import { UpstreamHealth } from './upstreamHealth.ts';

const KNOWN = 1;
const UNKNOWN = 0;
const DAY_SECONDS = 86_400;

interface Second {
  /** Number of answers by response time in milliseconds. */
  readonly answers?: Readonly<Record<number, number>>;
  readonly unanswered?: number;
  readonly hasServer?: boolean | undefined;
  readonly probeFails?: boolean;
  readonly lagMs?: number;
}

/** A clock of seconds, in which queries for known names are counted. */
function watched() {
  const memory = newResponseTimes();
  const [times, ofOtherThread] = [new ResponseTimes(memory), new ResponseTimes(memory)];
  const lines: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { info: note('info'), warn: note('warn'), error: note('error') };
  const health = new UpstreamHealth(times, log);
  let nowMs = 1_000_000_000_000;
  /** Counts what happens in a second, in both threads by turns, and returns the signal at its end. */
  const second = ({ answers = {}, unanswered = 0, probeFails, lagMs, ...more }: Second = {}): boolean => {
    for (const [ms, count] of Object.entries(answers))
      for (let n = 0; n < count; n++) (n % 2 ? times : ofOtherThread).answered(KNOWN, Number(ms));
    for (let n = 0; n < unanswered; n++) ofOtherThread.unanswered(KNOWN);
    if (probeFails) times.probeFailed();
    if (lagMs !== undefined) ofOtherThread.noteLag(lagMs);
    nowMs += 1000;
    return health.update(nowMs, 'hasServer' in more ? more.hasServer : true);
  };
  const seconds = (count: number, each: Second = {}): boolean[] =>
    Array.from({ length: count }, () => second(each));
  return { times, second, seconds, lines };
}

const BUSY: Second = { answers: { 2: 100 } };

describe('servers are unhealthy within one second', () => {
  it('if less than 98 % of the queries for known names are answered', () => {
    const { second } = watched();
    expect(second({ answers: { 2: 98 }, unanswered: 2 })).toBe(true);
    expect(second({ answers: { 2: 97 }, unanswered: 3 })).toBe(false);
  });

  it.each([
    { usualMs: 2, limitMs: 50 },
    { usualMs: 40, limitMs: 160 },
    { usualMs: 200, limitMs: 250 },
  ])(
    'if the 90th percentile exceeds $limitMs ms, with a usual median of $usualMs ms',
    ({ usualMs, limitMs }) => {
      const usual = { answers: { [usualMs]: 100 } };
      const normal = watched();
      normal.seconds(100, usual);
      expect(normal.second({ answers: { 0: 89, [limitMs]: 11 } })).toBe(true);
      expect(normal.second({ answers: { 0: 90, [limitMs + 1]: 10 } })).toBe(true);
      expect(normal.second({ answers: { 0: 89, [limitMs + 1]: 11 } })).toBe(false);
    },
  );

  it('if the 90th percentile exceeds 250 ms, before the usual median is known', () => {
    const { second } = watched();
    expect(second({ answers: { 250: 100 } })).toBe(true);
    expect(second({ answers: { 251: 100 } })).toBe(false);
  });

  it('if no server is in use, or a probe of the only server is not answered, whatever the response times', () => {
    expect(watched().second({ ...BUSY, hasServer: false })).toBe(false);
    expect(watched().second({ ...BUSY, probeFails: true })).toBe(false);
  });
});

describe('servers are healthy again', () => {
  it('after 30 s without a problem', () => {
    const { second, seconds } = watched();
    const overloaded = { answers: { 2: 50 }, unanswered: 50 };
    expect(seconds(3, overloaded)).toEqual([false, false, false]);
    expect(seconds(29, BUSY)).toEqual(Array(29).fill(false));
    expect(second(overloaded)).toBe(false);
    expect(seconds(30, BUSY)).toEqual([...Array(29).fill(false), true]);
  });

  it('and both changes are logged once, with the reason', () => {
    const { seconds, lines } = watched();
    seconds(5, { answers: { 400: 90 }, unanswered: 10 });
    seconds(40, BUSY);
    expect(lines).toEqual([
      'warn DNS servers unhealthy or overloaded {"reason":"too few answers","answeredShare":0.9,"p90Ms":400,"limitMs":250}',
      'info DNS servers healthy again {}',
    ]);
  });
});

describe('with fewer than 20 queries in a second', () => {
  it('up to ten seconds are combined', () => {
    const { seconds } = watched();
    expect(seconds(10, { answers: { 2: 1 }, unanswered: 1 })).toEqual([...Array(9).fill(true), false]);
  });

  it('only as many seconds are combined as are needed, so that the newest ones decide', () => {
    const { second, seconds } = watched();
    seconds(5, BUSY);
    expect(second({ answers: { 2: 9 }, unanswered: 1 })).toBe(true);
    expect(second({ answers: { 2: 9 }, unanswered: 1 })).toBe(false);
  });

  it('probes decide if ten seconds have too few queries', () => {
    const { seconds, second } = watched();
    expect(seconds(30, { unanswered: 1 })).toEqual(Array(30).fill(true));
    expect(second({ unanswered: 1, probeFails: true })).toBe(false);
  });

  it('servers are unhealthy if nothing is known of their state, but not if queries show it', () => {
    const { second } = watched();
    expect(second({ ...BUSY, hasServer: undefined })).toBe(true);
    for (let n = 0; n < 9; n++) expect(second({ hasServer: undefined })).toBe(true);
    expect(second({ hasServer: undefined })).toBe(false);
  });
});

describe('the usual median', () => {
  it('gives each second the same weight, so that a flood of known names hardly changes it', () => {
    const { second, seconds } = watched();
    seconds(100, { answers: { 40: 20 } });
    seconds(30, { answers: { 0: 10_000 } });
    expect(second({ answers: { 160: 100 } })).toBe(true);
  });

  it('loses half of its weight in two days', () => {
    const { second, seconds } = watched();
    seconds(200, { answers: { 40: 20 } });
    // A sixteenth of two days leaves 0.5 ** (1 / 16) of the weight: 191.5 seconds.
    seconds(DAY_SECONDS / 8);
    seconds(187, { answers: { 0: 20 } });
    expect(second({ answers: { 160: 100 } })).toBe(true);
    seconds(8, { answers: { 0: 20 } });
    expect(second({ answers: { 51: 100 } })).toBe(false);
  });
});

it('a thread that was blocked does not make servers look slow by that time', () => {
  const { second, seconds } = watched();
  seconds(100, BUSY);
  expect(second({ answers: { 150: 100 }, lagMs: 100 })).toBe(true);
  expect(second({ answers: { 151: 100 }, lagMs: 100 })).toBe(false);
});

it('queries for unknown names never change the signal, whatever their answers', () => {
  const known = fc.record({ good: fc.nat(60), slow: fc.nat(10), unanswered: fc.nat(3) });
  const unknown = fc.array(fc.record({ ms: fc.double(), isAnswered: fc.boolean() }), { maxLength: 50 });
  fc.assert(
    fc.property(fc.array(fc.tuple(known, unknown), { minLength: 1, maxLength: 60 }), (history) => {
      const [alone, attacked] = [watched(), watched()];
      for (const [{ good, slow, unanswered }, attack] of history) {
        for (const { ms, isAnswered } of attack)
          if (isAnswered) attacked.times.answered(UNKNOWN, ms);
          else attacked.times.unanswered(UNKNOWN);
        const same = { answers: { 2: good, 300: slow }, unanswered };
        expect(attacked.second(same)).toBe(alone.second(same));
      }
      expect(attacked.lines).toEqual(alone.lines);
    }),
    { numRuns: 100, seed: 1 },
  );
});
