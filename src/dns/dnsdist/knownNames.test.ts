import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Judge } from '../judge.ts';
import { nameToWire } from '../wire/name.ts';
import { QueryType, typeBit } from '../wire/queryTypes.ts';
import { questionOf } from '../wire/questionOf.ts';
import { cdbKeys } from './cdb.ts';
import { KnownNames, typesText } from './knownNames.ts';

const KEY = { high: 1, low: 2 };
const NOW = Date.UTC(2026, 10, 21);
let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

it('publishes no empty profile: not before there are names, not when all were forgotten', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const judge = new Judge(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(judge, file);
  await names.publish();
  expect(names.published).toBeUndefined();
  expect(existsSync(file)).toBe(false);

  const { hashHigh, hashLow } = questionOf('www.example.test', QueryType.A, KEY);
  judge.profile.seed(hashHigh, hashLow, typeBit(QueryType.A), NOW);
  names.add(nameToWire('WWW.example.test'));
  await names.publish();
  expect(names.published).toBe(file);
  const written = await readFile(file);
  expect([...cdbKeys(written)]).toHaveLength(1);

  // A sweep looks at a slice of the table: so many cover all of it.
  for (let i = 0; i < 1300; i++) judge.profile.sweep(NOW + 30 * 24 * 3_600_000);
  names.forget();
  expect(names.size).toBe(0);
  await names.publish();
  expect(await readFile(file)).toEqual(written);
  expect(names.published).toBe(file);
});

it('keeps with each name the types that it is known with, and tells which combinations there are', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const judge = new Judge(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(judge, file);
  const know = (name: string, ...types: number[]): void => {
    const { hashHigh, hashLow } = questionOf(name, QueryType.A, KEY);
    for (const type of types) judge.profile.seed(hashHigh, hashLow, typeBit(type), NOW);
    names.add(nameToWire(name));
  };
  know('a.test', QueryType.A);
  know('b.test', QueryType.A, QueryType.AAAA);
  know('c.test', QueryType.A, QueryType.AAAA);
  await names.publish();
  const both = typeBit(QueryType.A) | typeBit(QueryType.AAAA);
  expect(names.typeCombinations(64)).toEqual([typeBit(QueryType.A), both].sort((a, b) => a - b));
  expect(names.typeCombinations(64)).toHaveLength(2);
  const before = await readFile(file, 'latin1');
  expect(before).toContain(`\x01a\x04test\x00${typesText(typeBit(QueryType.A))}`);
  // A type that comes later changes what stands under the name.
  know('a.test', QueryType.AAAA);
  await names.publish();
  expect(names.typeCombinations(64)).toEqual([both]);
  expect(await readFile(file, 'latin1')).toContain(`\x01a\x04test\x00${typesText(both)}`);
});
