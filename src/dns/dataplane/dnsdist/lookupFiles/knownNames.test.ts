import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { AttackDetector } from '../../../detector/index.ts';
import { nameToText, nameToWire, QueryType, questionOf, typeBit } from '../../../protocol/index.ts';
import { cdbEntries, cdbOf } from './cdb.ts';
import { KnownNames, typesText } from './knownNames.ts';

const KEY = { high: 1, low: 2 };
const NOW = Date.UTC(2026, 10, 21);
let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Simulates nine days with answers for other names, so that all known names are forgotten. */
function forgetAll(detector: AttackDetector): void {
  for (let i = 0; i < 1300; i++) detector.profile.sweep(NOW);
  for (let day = 1; day <= 9; day++) detector.profile.days.note(0, NOW + day * 24 * 3_600_000);
  for (let i = 0; i < 1300; i++) detector.profile.sweep(NOW);
}

it('an empty names file is never published, neither before names are known nor after all are forgotten', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(detector, folder);
  await names.publish();
  expect(names.isPublished).toBe(false);
  expect(existsSync(file)).toBe(false);

  const question = questionOf('www.example.test', QueryType.A, KEY);
  detector.profile.seed(question, typeBit(QueryType.A));
  names.add(nameToWire('WWW.example.test'));
  await names.publish();
  expect(names.isPublished).toBe(true);
  const written = await readFile(file);
  expect([...cdbEntries(written)]).toHaveLength(1);

  // One sweep checks a slice of the table; 1,300 sweeps check all of it.
  forgetAll(detector);
  names.forget();
  expect(names.size).toBe(0);
  await names.publish();
  expect(await readFile(file)).toEqual(written);
  expect(names.isPublished).toBe(true);
});

it('the names file contains the types of each name, and the type combinations are counted', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(detector, folder);
  const know = (name: string, ...types: number[]): void => {
    const question = questionOf(name, QueryType.A, KEY);
    for (const type of types) detector.profile.seed(question, typeBit(type));
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
  // A type learned later changes the value of the name.
  know('a.test', QueryType.AAAA);
  await names.publish();
  expect(names.typeCombinations(64)).toEqual([both]);
  expect(await readFile(file, 'latin1')).toContain(`\x01a\x04test\x00${typesText(both)}`);
});

it('all names of an earlier run are loaded even if the profile was lost, and invalid names are skipped', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const types = typeBit(QueryType.A) | typeBit(QueryType.MX);
  const entry = (name: Uint8Array, value: string): [Uint8Array, Uint8Array] => [name, Buffer.from(value)];
  const notNames = [[], [1], [0, 0], [3, 97, 0], [64, ...Array(64).fill(97), 0], [0xc0, 0]];
  await writeFile(
    file,
    cdbOf([
      entry(nameToWire('learned.test'), typesText(types)),
      entry(nameToWire('old.test'), '1'),
      ...notNames.map((bytes) => entry(Uint8Array.from(bytes), 'ffff')),
    ]),
  );
  await utimes(file, NOW / 1000, NOW / 1000);
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(detector, folder);
  await names.load();
  expect(names.size).toBe(2);
  expect(names.isPublished).toBe(true);
  const typesOf = (name: string): number => {
    const { hashHigh, hashLow } = questionOf(name, QueryType.A, KEY);
    return detector.profile.types(detector.profile.find(hashHigh, hashLow));
  };
  expect(typesOf('learned.test')).toBe(types);
  expect(typesOf('old.test')).toBe(0xffff);
  // Loaded names expire like others when they leave the learning window.
  forgetAll(detector);
  names.forget();
  expect(names.size).toBe(0);
});

it('names of an earlier run belong to their zone, so they are forgotten with it', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const entries = ['www.example.test', 'www.other.test'].map((name): [Uint8Array, Uint8Array] => [
    nameToWire(name),
    Buffer.from(typesText(typeBit(QueryType.A))),
  ]);
  await writeFile(join(folder, 'known.cdb'), cdbOf(entries));
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100 } }, NOW);
  detector.zones.add('example.test');
  const names = new KnownNames(detector, folder);
  await names.load();
  detector.forget('example.test', NOW);
  names.forget();
  expect(entries.map(([name]) => names.has(name))).toEqual([false, true]);
});

it('the file of learned names contains the known names that no zone lists, also after a restart', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  const names = new KnownNames(detector, folder);
  detector.profile.seed(questionOf('listed.test', QueryType.A, KEY), typeBit(QueryType.A));
  detector.profile.readmit(questionOf('learned.test', QueryType.A, KEY), typeBit(QueryType.A));
  for (const name of ['listed.test', 'learned.test']) names.add(nameToWire(name));
  await names.publish();
  const learnedFile = join(folder, 'learned.cdb');
  const learned = async (): Promise<string[]> =>
    [...cdbEntries(await readFile(learnedFile))].map(([key]) => nameToText(key));
  expect(await learned()).toEqual(['learned.test']);
  await rm(learnedFile);
  const later = new KnownNames(detector, folder);
  await later.load();
  await later.publish();
  expect(await learned()).toEqual(['learned.test']);
});

it('each published file has a later modification second, because dnsdist checks only that', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-names-'));
  const file = join(folder, 'known.cdb');
  const detector = new AttackDetector(KEY, { profile: { maxNames: 100, windowMs: 3_600_000 } }, NOW);
  let names = new KnownNames(detector, folder);
  const seconds: number[] = [];
  for (let i = 0; i < 4; i++) {
    if (i === 2) {
      names = new KnownNames(detector, folder);
      await names.load();
    }
    const question = questionOf(`n${i}.test`, QueryType.A, KEY);
    detector.profile.seed(question, typeBit(QueryType.A));
    names.add(nameToWire(`n${i}.test`));
    await names.publish();
    seconds.push(Math.floor((await stat(file)).mtimeMs / 1000));
  }
  expect(seconds).toEqual([...new Set(seconds)].sort((a, b) => a - b));
});
