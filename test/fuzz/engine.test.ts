/**
 * In a process of its own, which Vitest gives to other options: each time it is asked, V8 goes over all the code that a process
 * has loaded, and a worker has that of a hundred other tests.
 * @vitest-environment-options { "process": "own" }
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Coverage } from '../../fuzz/engine/coverage.ts';
import { type FuzzOptions, fuzz } from '../../fuzz/engine/fuzz.ts';
import { minimise } from '../../fuzz/engine/minimise.ts';
import { mutateJson } from '../../fuzz/engine/mutateJson.ts';
import type { Target } from '../../fuzz/engine/target.ts';
import { Random } from '../support/random.ts';

const RUNS = 8_000;
const SEED = 1;

const targetOf = (run: Target['run'], more: Partial<Target> = {}): Target => ({
  seeds: [Buffer.from('seeds')],
  dictionary: [],
  maxBytes: 8,
  format: 'bytes',
  maxWork: Number.POSITIVE_INFINITY,
  run,
  ...more,
});

describe('the fuzzer', () => {
  let coverage: Coverage;
  let planted: typeof import('./support/planted.ts');
  beforeEach(async () => {
    coverage = new Coverage((url) => url.includes('planted'));
    coverage.start();
    planted = await import('./support/planted.ts');
  });
  afterEach(() => coverage.stop());

  it('finds a fault deep behind comparisons, which as many blind runs do not find', async () => {
    const until = (more: Partial<FuzzOptions>) => {
      let found = false;
      const onFinding = () => {
        found = true;
      };
      const goesOn = (runs: number) => runs < RUNS && !found;
      return fuzz(targetOf(planted.deepFault), { seed: SEED, goesOn, onFinding, ...more });
    };
    const guided = await until({ coverage });
    expect(guided.findings.map(({ input }) => Buffer.from(input).toString('hex'))).toEqual(['407f80c0ff']);
    const blind = await until({});
    expect(blind.runs).toBeGreaterThanOrEqual(RUNS);
    expect(blind.findings).toEqual([]);
  });

  it('counts work: an input that takes more blocks than it may is a finding, whatever the clock says', async () => {
    const target = targetOf((input) => void planted.slowOnes(input), { maxWork: 3_000 });
    const { findings } = await fuzz(
      { ...target, maxBytes: 64 },
      { seed: SEED, coverage, goesOn: (runs) => runs < 500 },
    );
    expect(findings.map(({ kind }) => kind)).toEqual(['too much work']);
  });
});

it('runs the same inputs again for the same seed', async () => {
  const runsOf = async (seed: number) => {
    const inputs: string[] = [];
    const target = targetOf((input) => void inputs.push(Buffer.from(input).toString('hex')));
    await fuzz(target, { seed, goesOn: (runs) => runs < 500 });
    return inputs;
  };
  const inputs = await runsOf(3);
  expect(await runsOf(3)).toEqual(inputs);
  expect(await runsOf(4)).not.toEqual(inputs);
  expect(new Set(inputs).size).toBeGreaterThan(300);
});

it('makes a finding as small as it can', async () => {
  const input = Buffer.from('all of this is noise, but for x and y');
  const fails = async (tried: Uint8Array) => /x.*y/.test(Buffer.from(tried).toString());
  expect(Buffer.from(await minimise(input, fails)).toString()).toBe('xy');
});

it('exchanges, removes and repeats values of JSON, and what comes of it is JSON', () => {
  const random = new Random(SEED);
  const input = Buffer.from('{"a":[1,{"b":"0x10"},null],"c":true}');
  const material = { random, dictionary: [Buffer.from('word')], other: () => Buffer.from('{"z":[]}') };
  const made = Array.from({ length: 500 }, () => Buffer.from(mutateJson(input, material) ?? '').toString());
  for (const text of made) expect(() => JSON.parse(text)).not.toThrow();
  for (const part of ['"word"', '[]', '"c":false', '"c":true}', '{"a":[{"b":"0x10"},null]', '1,1'])
    expect(
      made.some((text) => text.includes(part)),
      part,
    ).toBe(true);
});
