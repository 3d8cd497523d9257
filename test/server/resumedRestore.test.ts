import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { open as openLmdb } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, type IndexedBlock, indexBlock } from '../../src/ethereum/traces/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { backupData, lockDataDir, restoreData, verifyData, verifyStore } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { PROGRAM } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';

/** Five segments, the last one incomplete. */
const BLOCKS = 4_300;

/** Returns the ids of the processes that a process has started with the option --in-process. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(
      (child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--in-process'),
    )
    .map(Number);

describe('a restore or a verification that was interrupted', () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-restore-'));
  const [dataDir, backup] = [join(root, 'data'), join(root, 'backup')];
  let folders = 0;
  const folder = (): string => join(root, `restored${folders++}`);
  const dataFile = (at: string, store = 'traces'): string => join(at, store, 'data.mdb');

  beforeAll(async () => {
    await openRulesStorage(dataDir).close();
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
  const progressOf = (segments: readonly number[]): string[] =>
    segments.map((segment) => `traces: verified blocks ${segment * 1024} to ${segment * 1024 + 1023}`);

  it('keeps what was copied', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    const copied = statSync(dataFile(restored, 'restoring-rules'));
    await restoreData(backup, restored, async () => []);
    expect(statSync(dataFile(restored, 'rules')).ino).toBe(copied.ino);
    for (const left of ['restoring.json', 'restoring-rules', 'restoring-traces'])
      expect(existsSync(join(restored, left)), left).toBe(false);
    const store = openTraceStore(join(restored, 'traces'));
    expect(await store.firstMissing(0, BLOCKS)).toBe(BLOCKS);
    await store.close();
  });

  it('skips the segments that were verified, unless the data file is another one', async () => {
    const verifyRulesToo = (shares: readonly number[], end: () => Promise<readonly string[]>) =>
      verifyData(dataDir, async (at, store, record) => {
        if (store !== 'traces') return [];
        for (const share of shares) expect(await verifyShare(at, share, record)).toEqual([]);
        return end();
      });
    await expect(verifyRulesToo([0], killed)).rejects.toThrow('killed');
    const copy = folder();
    cpSync(dataDir, copy, { recursive: true });
    lines.length = 0;
    const found = await verifyRulesToo([0, 1], async () => []);
    expect(found.get('traces')).toEqual([]);
    expect(lines).toEqual(progressOf([3, 1]));
    lines.length = 0;
    await verifyRulesToo([0, 1], async () => []);
    expect(lines).toEqual(progressOf([4, 2, 0, 3, 1]));

    lines.length = 0;
    await verifyData(copy, (at, store, record) =>
      store === 'traces' ? verifyShare(at, 0, record) : Promise.resolve([]),
    );
    expect(lines).toEqual(progressOf([4, 2, 0]));
  });

  it('continues a copy that was cut off, with the command too', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    mkdirSync(join(restored, 'restoring-traces'));
    writeFileSync(
      dataFile(restored, 'restoring-traces'),
      readFileSync(dataFile(backup)).subarray(0, 123_456),
    );
    const { status, stdout, stderr } = await floodgate(['restore', backup, '--data-dir', restored]);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(`Restored rules, traces into ${restored}.\n`);
    expect(readFileSync(dataFile(restored)).equals(readFileSync(dataFile(backup)))).toBe(true);
    expect(await floodgate(['restore', backup, '--data-dir', restored])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('already contains rules, traces'),
    });
  });

  it('does not use a damaged copy or backup', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    mkdirSync(join(restored, 'restoring-traces'));
    writeFileSync(dataFile(restored, 'restoring-traces'), Buffer.alloc(123_456));
    const restore = () => restoreData(backup, restored, async () => []);
    await expect(restore()).rejects.toThrow(
      `${join(backup, 'traces')} is damaged: its data.mdb does not have the SHA-256 that backup.json specifies`,
    );
    await restore();
    const damaged = join(root, 'damaged');
    cpSync(backup, damaged, { recursive: true });
    writeFileSync(join(damaged, 'backup.json'), '{"madeOn":"","stores":["rules","traces"]}');
    await expect(restoreData(damaged, folder(), killed)).rejects.toThrow(
      /backup.json has no SHA-256 of rules: restore the backup with the version of Floodgate that made it/,
    );
    writeFileSync(join(damaged, 'backup.json'), '{"madeOn":');
    await expect(restoreData(damaged, folder(), killed)).rejects.toThrow(/backup.json is damaged/);
  });

  it('is not followed by the start of a server, which would lack tokens and keys', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    const start = () => floodgate(['start', '--role', 'rules', '--port', '0', '--data-dir', restored]);
    expect(await start()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        `${restored} contains an unfinished restore: run the same \`floodgate restore\` again, or use another folder`,
      ),
    });
    expect(existsSync(join(restored, 'rules'))).toBe(false);
    await restoreData(backup, restored, async () => []);
    lockDataDir(restored).release();
  });

  it('does not take the stores of a server that ran after the interruption for restored ones', async () => {
    const restored = folder();
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    await openTraceStore(join(restored, 'traces')).close();
    const again = restoreData(backup, restored, async () => []);
    await expect(again).rejects.toThrow(/already contains traces: restore into an empty folder/);
  });

  it.skipIf(process.platform !== 'linux')(
    'does not report damage if the process that checks a store is killed',
    async () => {
      const restored = folder();
      const child = spawnGuarded(process.execPath, [PROGRAM, 'restore', backup, '--data-dir', restored]);
      const output = text(child.stderr);
      child.stdout.resume();
      const ended = once(child, 'close');
      await until('the process that checks a store', () => {
        const [checking] = childrenOf(child.pid ?? 0);
        return checking !== undefined && process.kill(checking, 'SIGKILL');
      });
      expect((await ended)[0]).toBe(1);
      expect(await output).toMatch(/was ended by SIGKILL, .*: run the same command again/);
      expect(await floodgate(['restore', backup, '--data-dir', restored])).toMatchObject({ status: 0 });
    },
  );

  it('begins again with another backup, and after damage', async () => {
    const [restored, other] = [folder(), join(root, 'other')];
    await expect(restoreData(backup, restored, killed)).rejects.toThrow('killed');
    writeFileSync(dataFile(restored, 'restoring-rules'), 'of the first backup');
    await backupData(dataDir, other);
    await expect(restoreData(other, restored, async () => ['torn'])).rejects.toThrow(/is damaged: torn/);
    expect(existsSync(dataFile(restored, 'restoring-rules'))).toBe(false);
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
  const lines = [0, 1_024, 2_048, 3_072].map(
    (block) => `traces: verified blocks ${block} to ${block + 1023}`,
  );
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
