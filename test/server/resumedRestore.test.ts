import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, type IndexedBlock, indexBlock } from '../../src/ethereum/traces/index.ts';
import { backupData, restoreData, verifyStore } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { Random } from '../support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';

/** Five segments, the last one incomplete. */
const BLOCKS = 4_300;

describe('a restore that was interrupted', () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-restore-'));
  const [dataDir, backup] = [join(root, 'data'), join(root, 'backup')];
  let folders = 0;
  const folder = (): string => join(root, `restored${folders++}`);
  const copyOf = (restored: string): string => join(restored, 'restoring-traces', 'data.mdb');

  beforeAll(async () => {
    const store = openTraceStore(join(dataDir, 'traces'));
    const random = new Random(4);
    const shape = { addresses: syntheticAddresses(9), maxTransactions: 2, maxFrames: 3 };
    let parentHash: Hash | undefined;
    let blocks: IndexedBlock[] = [];
    for (let number = 0; number < BLOCKS; number++) {
      const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
      parentHash = header.hash;
      blocks.push(indexBlock(header, traces));
      if (blocks.length < 500 && number < BLOCKS - 1) continue;
      await store.apply({ blocks });
      blocks = [];
    }
    await store.close();
    await backupData(dataDir, backup);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const killed = () => Promise.reject(new Error('killed'));
  const lines: string[] = [];
  /** Verifies a share of the segments, as one of several processes does. */
  const verifyShare = (at: string, index: number, record: string | undefined) =>
    verifyStore(at, 'traces', {
      share: { index, processes: 2 },
      record,
      progress: (line) => lines.push(line),
    });

  it('keeps what was copied and verified, and verifies the rest', async () => {
    const restored = folder();
    const first = restoreData(backup, restored, async (at, _, record) => {
      expect(await verifyShare(at, 0, record)).toEqual([]);
      return killed();
    });
    await expect(first).rejects.toThrow('killed');
    const copied = statSync(copyOf(restored));
    lines.length = 0;
    await restoreData(backup, restored, async (at, _, record) => [
      ...(await verifyShare(at, 0, record)),
      ...(await verifyShare(at, 1, record)),
    ]);
    expect(lines).toEqual([3, 1].map((segment) => `traces: verified down to block ${segment * 1024}`));
    expect(statSync(join(restored, 'traces', 'data.mdb'))).toMatchObject({
      ino: copied.ino,
      mtimeMs: copied.mtimeMs,
    });
    for (const left of ['restoring.json', 'restoring-traces', 'traces/verified'])
      expect(existsSync(join(restored, left)), left).toBe(false);
    const store = openTraceStore(join(restored, 'traces'));
    expect(await store.firstMissing(0, BLOCKS)).toBe(BLOCKS);
    await store.close();
  });

  it('continues a copy that was cut off, with the command too', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    truncateSync(copyOf(restored), 123_456);
    expect(await floodgate(['restore', backup, '--data-dir', restored])).toMatchObject({
      status: 0,
      stdout: `Restored traces into ${restored}.\n`,
    });
    const [copy, original] = [restored, backup].map((at) => readFileSync(join(at, 'traces', 'data.mdb')));
    expect(copy?.equals(original as Buffer)).toBe(true);
    expect(await floodgate(['restore', backup, '--data-dir', restored])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('already contains traces'),
    });
  });

  it('does not take the stores of a server that ran after the interruption for restored ones', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    await openTraceStore(join(restored, 'traces')).close();
    const again = restoreData(backup, restored, async () => []);
    await expect(again).rejects.toThrow(/already contains traces: restore into an empty folder/);
  });

  it('begins again with another backup, and after damage', async () => {
    const [restored, other] = [folder(), join(root, 'other')];
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    writeFileSync(copyOf(restored), 'of the first backup');
    await backupData(dataDir, other);
    writeFileSync(join(other, 'backup.json'), '{"madeOn":"later"}\n');
    await expect(restoreData(other, restored, async () => ['torn'])).rejects.toThrow(/is damaged: torn/);
    expect(existsSync(copyOf(restored))).toBe(false);
    expect(await floodgate(['restore', other, '--data-dir', restored])).toMatchObject({ status: 0 });
  });
});

it('processes that share an index verify each segment once, and find a damaged one', async () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-verify-'));
  const path = join(root, 'traces');
  const store = openTraceStore(path);
  const shape = { addresses: syntheticAddresses(5), maxTransactions: 3, maxFrames: 2 };
  for (const number of [5, 1_030, 2_060, 3_090]) {
    const { header, traces } = syntheticBlock(new Random(number), shape, { number });
    await store.apply({ blocks: [indexBlock(header, traces)] });
  }
  await store.close();
  const verified = async (processes: number) => {
    const lines: string[] = [];
    const progress = (line: string): void => void lines.push(line);
    const problems = [];
    for (let index = 0; index < processes; index++)
      problems.push(...(await verifyStore(path, 'traces', { share: { index, processes }, progress })));
    return { lines: lines.sort(), problems };
  };
  const lines = [0, 1_024, 2_048, 3_072].map((block) => `traces: verified down to block ${block}`);
  for (const processes of [1, 2, 3, 7]) expect(await verified(processes)).toEqual({ lines, problems: [] });

  const damaged = openLmdb<Buffer, Buffer>({ path, maxDbs: 100, keyEncoding: 'binary', encoding: 'binary' });
  const blocks = damaged.openDB<Buffer, Buffer>({
    name: 'blocks',
    keyEncoding: 'binary',
    encoding: 'binary',
  });
  blocks.removeSync(Buffer.from([0, 0, 4, 6]));
  await damaged.close();
  for (const processes of [1, 2, 3, 7]) {
    const { problems } = await verified(processes);
    expect(problems.join('\n'), `${processes} processes`).toContain('block 1030');
  }
  rmSync(root, { recursive: true, force: true });
});
