import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { AttackDetector } from '../../../detector/index.ts';
import { networkHash } from '../../../protocol/index.ts';
import { cdbEntries } from './cdb.ts';
import { addressText, KnownNetworks } from './knownNetworks.ts';

const NOW = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;
const IPV4 = Uint8Array.from([192, 0, 2, 9]);
const IPV6 = Uint8Array.from([0x20, 1, 0xd, 0xb8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
const NEW = Uint8Array.from([198, 51, 100, 9]);
let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

it('the file contains the networks that the detector knows, and none that it has forgotten', async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-networks-'));
  const file = join(folder, 'networks.cdb');
  const keys = async () => [...cdbEntries(await readFile(file))].map(([key]) => [...key]);
  const detector = new AttackDetector({ high: 1, low: 2 }, {}, NOW);
  detector.clients.resize({ ratePerSecond: 100, burst: 100 }, { ratePerSecond: 100, burst: 100 }, NOW);
  const networks = new KnownNetworks(detector, file);
  await networks.publish();
  expect(await keys()).toEqual([]);
  for (const address of [IPV4, IPV6])
    for (const atMs of [NOW, NOW + HOUR_MS]) detector.clients.note(networkHash(addressText(address)), atMs);
  for (const address of [IPV4, IPV6, NEW]) networks.note(address, NOW + HOUR_MS);
  await networks.publish();
  const known = [
    [192, 0, 2, 0],
    [0x20, 1, 0xd, 0xb8, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ];
  expect(await keys()).toEqual(known);
  const later = new KnownNetworks(detector, file);
  await later.load(NOW + HOUR_MS);
  await later.publish();
  expect(await keys()).toEqual(known);
  later.forget(NOW + 8 * 24 * HOUR_MS);
  await later.publish();
  expect(await keys()).toEqual([]);
});
