import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RETRY_KEY_LIFE_MS } from '../../index.ts';
import { RulesEnvironment } from './environment.ts';
import { IdempotencyRecords } from './idempotencyRecords.ts';

const LIFE_MICROS = RETRY_KEY_LIFE_MS * 1000;
const ANSWER = { created: { id: 'rule' } as never, overrides: [] }; // only stored and returned

let folder: string;
let environment: RulesEnvironment;
let records: IdempotencyRecords;
let now: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-retry-keys-'));
  now = 1_700_000_000_000_000;
  environment = RulesEnvironment.open(folder, () => now);
  records = new IdempotencyRecords(environment);
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores the result of a creation, like a store in its transaction. */
const create = (key: string): Promise<void> =>
  environment.commits.run(() => {
    const moment = environment.nextMoment();
    const writes = records.keep(records.retryOf('account', key, 'text'), ANSWER, moment);
    return { result: undefined, writes: [...writes, environment.clockAt(moment)] };
  });

const sizes = (): [number, number] => [
  environment.firstAnswers.getCount(),
  environment.firstAnswerAges.getCount(),
];
const isStored = (key: string): boolean =>
  records.find(records.retryOf('account', key, 'text')) !== undefined;

it('each creation removes ten expired keys and their ages, so that neither accumulates', async () => {
  for (let i = 0; i < 30; i++) await create(`old-${i}`);
  expect(sizes()).toEqual([30, 30]);
  now += LIFE_MICROS;
  await create('new-0');
  expect(sizes()).toEqual([21, 21]);
  await create('new-1');
  await create('new-2');
  expect(sizes()).toEqual([3, 3]);
  expect(['new-0', 'new-1', 'new-2'].map(isStored)).toEqual([true, true, true]);
});

it('a key is kept for 24 hours, and no key is removed before', async () => {
  await create('old');
  now += LIFE_MICROS - 1;
  await create('new');
  expect([isStored('old'), sizes()]).toEqual([true, [2, 2]]);
  now += 1;
  expect(isStored('old')).toBe(false);
});

it('the age of an expired key is removed, but not the newer result under the same key', async () => {
  await create('same');
  now += LIFE_MICROS;
  await environment.commits.run(() => {
    const moment = environment.nextMoment();
    const [first] = records.keep(records.retryOf('account', 'same', 'text'), ANSWER, moment).slice(-2);
    // The result is written without its age, as if the age of the old one had not been removed yet.
    return { result: undefined, writes: first === undefined ? [] : [first] };
  });
  await create('other');
  expect([isStored('same'), isStored('other'), sizes()]).toEqual([true, true, [2, 1]]);
});
