import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { AttackDetector, type Learned, type ProfileEntry } from '../../src/dns/detector/index.ts';
import { questionOf } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { exportProfile, importProfile } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';

const KEY = { high: 3, low: 4 };
/** Number of names; more than fit into one chunk. */
const NAMES = 5_000;

let source: string;
let file: string;
let learned: Learned;
let entries: ProfileEntry[];
beforeEach(async () => {
  source = temporaryFolder();
  file = join(temporaryFolder(), 'profile');
  const detector = new AttackDetector(KEY, {}, Date.now());
  detector.zones.add('example.test');
  for (let i = 0; i < 1000; i++) detector.clients.note(i, Date.now());
  learned = detector.learned(Date.now());
  entries = Array.from({ length: NAMES }, (_, index) => {
    const { hashHigh, hashLow } = questionOf(`n${index}.example.test`, 1, KEY);
    return [hashHigh, hashLow, (1 << 16) | 1, 0];
  });
  const store = DnsStore.open(source);
  await store.save(learned, entries);
  await store.close();
});

async function profileOf(folder: string) {
  const store = DnsStore.open(folder);
  const stored = store.load();
  const profile = stored && { learned: stored.learned, entries: [...stored.entries] };
  await store.close();
  return profile;
}

it('a profile is identical after export and import, and its file is readable by its owner only', async () => {
  const target = join(temporaryFolder(), 'new');
  const out = await floodgate(['dns', 'profile', 'export', file, '--data-dir', source]);
  expect([out.status, out.stdout]).toEqual([0, `Wrote ${NAMES} names and 2 zones to ${file}.\n`]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const into = await floodgate(['dns', 'profile', 'import', file, '--data-dir', target]);
  expect(into.status, into.stderr).toBe(0);
  expect(await profileOf(target)).toEqual({ learned: JSON.parse(JSON.stringify(learned)), entries });
  const again = await floodgate(['dns', 'profile', 'import', file, '--data-dir', target]);
  expect([again.status, again.stderr.split('\n').length]).toEqual([1, 2]);
  expect(again.stderr).toMatch(/already has a profile: use --replace/);
  expect(await importProfile({ dataDir: target, file, replaces: true })).toEqual({ names: NAMES, zones: 2 });
});

it('a profile is not exported over a file or without a profile, and not imported while a server runs', async () => {
  await exportProfile(source, file);
  await expect(exportProfile(source, file)).rejects.toThrow(/already exists/);
  await expect(exportProfile(temporaryFolder(), `${file}2`)).rejects.toThrow(/contains no profile/);
  const running = temporaryFolder();
  // The lock of another running process: the parent of this one.
  symlinkSync(
    JSON.stringify({ pid: process.ppid, started: startOf(process.ppid) }),
    `${running}/floodgate.lock`,
  );
  await expect(importProfile({ dataDir: running, file, replaces: false })).rejects.toThrow(
    /in use by another/,
  );
});

it.each([
  ['truncated', (bytes: Buffer) => bytes.subarray(0, -1), /corrupt file: \d+ bytes instead of/],
  ['truncated in its header', (bytes: Buffer) => bytes.subarray(0, 40), /corrupt file: truncated header/],
  [
    'too long',
    (bytes: Buffer) => Buffer.concat([bytes, Buffer.from([0])]),
    /corrupt file: \d+ bytes instead of/,
  ],
  ['changed in a name', (bytes: Buffer) => flipped(bytes, bytes.length - 40), /checksum mismatch/],
  [
    'changed in its header',
    (bytes: Buffer) => replaced(bytes, '"unknownShare"', '"unknownShame"'),
    /unknownSha/,
  ],
  [
    'written with a header that is not an object',
    (bytes: Buffer) => replaced(bytes, '{"madeOn"', '["madeOn"'),
    /not JSON/,
  ],
  [
    'written with an invalid number',
    (bytes: Buffer) => replaced(bytes, '"unknownShare":0', '"unknownShare":-'),
    /./,
  ],
  ['of a newer format', (bytes: Buffer) => replaced(bytes, 'profile 1', 'profile 2'), /unsupported format 2/],
  ['not a profile', () => Buffer.from('hello'), /not a profile file/],
  ['empty', () => Buffer.alloc(0), /not a profile file/],
  [
    'written with a header length of 4 GiB',
    (bytes: Buffer) => withLength(bytes, 0xffffffff),
    /header of 4294967295 bytes/,
  ],
])('a profile file that is %s is rejected, and nothing is imported', async (_, change, says) => {
  await exportProfile(source, file);
  writeFileSync(file, change(readFileSync(file)));
  const target = join(temporaryFolder(), 'new');
  await expect(importProfile({ dataDir: target, file, replaces: false })).rejects.toThrow(says);
  expect(existsSync(join(target, 'dns'))).toBe(false);
});

const MAGIC_BYTES = 'floodgate profile 1\n'.length;

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const at = bytes.indexOf(from);
  if (at < 0 || from.length !== to.length) throw new Error(`the profile does not contain ${from}`);
  bytes.write(to, at);
  return bytes;
}

function withLength(bytes: Buffer, length: number): Buffer {
  bytes.writeUInt32LE(length, MAGIC_BYTES);
  return bytes;
}

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
