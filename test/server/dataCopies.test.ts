import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { open as openLmdb, type RootDatabase } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, indexBlock, type TraceStore } from '../../src/ethereum/traces/index.ts';
import type { RulesStorage } from '../../src/rules/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { backupData } from '../../src/server/index.ts';
import { call } from '../rules/support/call.ts';
import { floodgate } from '../rules/support/command.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { startServer } from '../rules/support/server.ts';
import { Random } from '../support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';

const actor = { by: 'test', from: 'local' };
/** The account of a rule that is there at any moment. */
const KEPT = 'kept';
/** Copies that are torn at random moments. */
const TORN_COPIES = 5;
const PIECE_BYTES = 64 * 1024;
/** Between two writes, so that those who copy get the processor, too. */
const PAUSE_MS = 1;

/** Writes rules and blocks all the time, as a server does. */
class Writer {
  readonly rules: RulesStorage;
  readonly traces: TraceStore;
  readonly #random = new Random(3);
  #isStopped = false;
  #done: Promise<unknown> = Promise.resolve();
  written = 0;

  constructor(dataDir: string) {
    this.rules = openRulesStorage(dataDir);
    this.traces = openTraceStore(join(dataDir, 'traces'), { maxRecentPositions: 200, listsPerMerge: 20 });
  }

  start(): void {
    this.#done = Promise.all([this.#writeRules(), this.#writeBlocks()]);
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#done;
    await this.rules.close();
    await this.traces.close();
  }

  async #writeRules(): Promise<void> {
    const { rules, lists } = this.rules;
    const denied = { accountId: 'acc', list: 'denylist' } as const;
    await rules.create(KEPT, newRule, { actor });
    while (!this.#isStopped) {
      const { rule } = await rules.create('acc', newRule, { actor });
      await rules.update('acc', rule.id, { decide: () => ({ mode: 'monitoring' }), actor });
      const { id } = await lists.create(denied, { prefix: '192.0.2.7', comment: '', enabled: true }, actor);
      await lists.update(denied, id, { decide: () => ({ enabled: false }), actor });
      if (++this.written % 2 === 0) await rules.delete('acc', rule.id, { check: () => undefined, actor });
      if (this.written % 2 === 0) await lists.delete(denied, id, { check: () => undefined, actor });
      if (this.written % 500 === 0) await rules.deleteAll('acc', actor);
      if (this.written % 500 === 0) await lists.deleteAll(denied, actor);
      await pause(PAUSE_MS);
    }
  }

  async #writeBlocks(): Promise<void> {
    const shape = { addresses: syntheticAddresses(8), maxTransactions: 20, maxFrames: 6 };
    let parentHash: Hash | undefined;
    for (let number = 0; !this.#isStopped; number++) {
      const { header, traces } = syntheticBlock(this.#random, shape, { number, parentHash });
      parentHash = header.hash;
      await this.traces.apply({ blocks: [indexBlock(header, traces)] });
      await pause(PAUSE_MS);
    }
  }
}

describe('copies of the data folder', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'floodgate-copies-'));
    folders.push(made);
    return made;
  };
  const dataDir = folder();
  let writer: Writer;

  beforeAll(async () => {
    writer = new Writer(dataDir);
    writer.start();
    await until(
      'something was written',
      () => writer.written > 20 && (writer.traces.head() as { number: number } | undefined)?.number,
    );
  });
  afterAll(async () => {
    await writer?.stop();
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  it('a backup of a folder that is being written is whole, and can be restored', async () => {
    const [backup, restored] = [join(folder(), 'backup'), folder()];
    const before = writer.written;
    expect(await floodgate(['backup', backup, '--data-dir', dataDir])).toMatchObject({
      status: 0,
      stdout: `Copied rules, traces into ${backup}.\n`,
    });
    expect(writer.written).toBeGreaterThan(before);
    const { status, stderr } = await floodgate(['restore', backup, '--data-dir', restored]);
    expect(status, stderr).toBe(0);
    expect((await floodgate(['verify', '--data-dir', restored])).stdout).toBe(
      'rules: whole\ntraces: whole\n',
    );
    const storage = openRulesStorage(restored);
    expect(await storage.rules.list(KEPT)).toHaveLength(1);
    await storage.close();
    expect((await floodgate(['restore', backup, '--data-dir', restored])).stderr).toMatch(
      /holds rules, traces already/,
    );
    expect((await floodgate(['backup', backup, '--data-dir', dataDir])).stderr).toMatch(/is not empty/);
  });

  it('a copy is opened only after it was verified', async () => {
    const backup = join(folder(), 'backup');
    await backupData(dataDir, backup);
    const copy = folder();
    cpSync(backup, copy, { recursive: true });
    expect(() => openRulesStorage(copy)).toThrow(/is a copy of a store.*floodgate verify/);
    expect(() => openTraceStore(join(copy, 'traces'))).toThrow(/is a copy of a store/);
    expect(await floodgate(['token', 'list', '--data-dir', copy])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^floodgate: .* is a copy of a store[^\n]*\n$/),
    });
    const { status, stderr } = await floodgate(['verify', '--data-dir', copy]);
    expect(status, stderr).toBe(0);
    await openRulesStorage(copy).close();
    await openTraceStore(join(copy, 'traces')).close();
  });

  it('a torn copy is told damaged, or has been one state by chance: it ends no server', async () => {
    const copies = folder();
    for (let i = 0; i < TORN_COPIES; i++) {
      // Each of them by the name of a network's index, so that one command verifies all.
      const torn = join(copies, `traces-torn${i}`);
      mkdirSync(torn);
      await copySlowly(join(dataDir, 'traces', 'data.mdb'), join(torn, 'data.mdb'));
      if (i === 0)
        truncateSync(join(torn, 'data.mdb'), Math.floor(statSync(join(torn, 'data.mdb')).size / 2));
    }
    const { status, stdout } = await floodgate(['verify', '--data-dir', copies]);
    expect(status).toBe(1);
    const verdicts = stdout.trimEnd().split('\n');
    expect(verdicts).toHaveLength(TORN_COPIES);
    for (const verdict of verdicts) expect(verdict).toMatch(/^traces-torn\d: (whole$|damaged: )/);
    expect(verdicts[0]).toMatch(/damaged/);
  });

  describe('that nobody writes to', () => {
    // It takes as much of the processor as it gets.
    beforeAll(() => writer.stop());

    it('rules that are not what the audit says are told', async () => {
      const backup = join(folder(), 'backup');
      await backupData(dataDir, backup);
      const root = openLmdb({ path: join(backup, 'rules'), maxDbs: 16 });
      const rules = root.openDB<Buffer, string[]>({ name: 'rules', encoding: 'binary' });
      for (const { key, value } of rules.getRange({ limit: 1 })) {
        value[value.length - 3] = (value[value.length - 3] ?? 0) ^ 1;
        await rules.put(key, value);
      }
      await root.close();
      const { stdout } = await floodgate(['verify', '--data-dir', backup]);
      expect(stdout).toMatch(/^rules: damaged: a record of the rules is damaged: its checksum is another/);
    });

    it('access lists that are not what the audit says are told, and a store that has none is whole', async () => {
      const made = folder();
      const storage = openRulesStorage(made);
      await storage.rules.create('acc', newRule, { actor });
      await storage.close();
      const change = async (work: (root: RootDatabase) => Promise<unknown>) => {
        const root = openLmdb({ path: join(made, 'rules'), maxDbs: 16 });
        await work(root);
        await root.close();
      };
      const verified = async () => (await floodgate(['verify', '--data-dir', made])).stdout;
      await change(async (root) => {
        for (const name of ['listEntries', 'lists']) await root.openDB({ name }).drop();
      });
      expect(await verified()).toBe('rules: whole\n');
      const again = openRulesStorage(made);
      const entry = { name: 'example.test', comment: '', enabled: true };
      const { id } = await again.lists.create({ accountId: 'acc', list: 'allowlist' }, entry, actor);
      await again.close();
      await change((root) =>
        root.openDB({ name: 'listEntries', encoding: 'binary' }).remove(['acc', 'allowlist', id]),
      );
      expect(await verified()).toMatch(`entry acc/allowlist/${id} is missing`);
      expect(await verified()).toMatch('the allowlist of account acc is said to have 1 entries, it has 0');
    });
  });

  /** Reads a file piece by piece while it is being written, as `cp` of a large one does. */
  async function copySlowly(from: string, to: string): Promise<void> {
    const source = await open(from, 'r');
    const { size } = await source.stat();
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const { buffer, bytesRead } = await source.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at);
      appendFileSync(to, buffer.subarray(0, bytesRead));
      const before = writer.written;
      if (at % (PIECE_BYTES * 8) === 0) await until('more was written', () => writer.written > before);
    }
    await source.close();
  }
});

describe('the format of a store', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'floodgate-format-'));
    folders.push(made);
    return made;
  };
  afterAll(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  it('is refused by name where it is newer', async () => {
    const dataDir = folder();
    await openRulesStorage(dataDir).close();
    await openTraceStore(join(dataDir, 'traces')).close();
    for (const [store, keyEncoding] of [
      ['rules', undefined],
      ['traces', 'ordered-binary'],
    ] as const) {
      const root = openLmdb({ path: join(dataDir, store), maxDbs: 16, keyEncoding: 'binary' });
      await root
        .openDB({ name: 'format', encoding: 'json', keyEncoding: keyEncoding ?? 'ordered-binary' })
        .put('version', 99);
      await root.close();
    }
    expect(() => openRulesStorage(dataDir)).toThrow(
      /the store rules has format 99, which a newer Floodgate wrote/,
    );
    expect(() => openTraceStore(join(dataDir, 'traces'))).toThrow(/the store traces has format 99/);
  });

  it('of rules is upgraded where it is older, and nothing is lost', async () => {
    const dataDir = folder();
    const first = openRulesStorage(dataDir);
    const { rule } = await first.rules.create('acc', newRule, { actor });
    await first.close();
    await writeAsBefore(join(dataDir, 'rules'));
    const upgraded = openRulesStorage(dataDir);
    expect(await upgraded.rules.list('acc')).toEqual([rule]);
    await upgraded.close();
    const root = openLmdb({ path: join(dataDir, 'rules'), maxDbs: 16 });
    expect(root.openDB({ name: 'format', encoding: 'json' }).get('version')).toBe(2);
    const rules = root.openDB<Buffer, string[]>({ name: 'rules', encoding: 'binary' });
    for (const { value } of rules.getRange()) expect(value[0]).toBe(1);
    await root.close();
  });

  /** What a version without checksums and formats left. */
  async function writeAsBefore(path: string): Promise<void> {
    const root = openLmdb({ path, maxDbs: 16 });
    for (const name of ['rules', 'audit']) {
      const database = root.openDB<Buffer, string[]>({ name, encoding: 'binary' });
      for (const { key, value } of [...database.getRange()]) await database.put(key, value.subarray(5));
    }
    await root.openDB({ name: 'format', encoding: 'json' }).remove('version');
    await root.close();
  }
});

describe('a store whose file is no longer there', () => {
  it('takes no more writes, and readiness says so', async () => {
    const server = await startServer();
    try {
      const body = newRule;
      expect((await call(server, { method: 'POST', path: rulesPath('acc'), body })).status).toBe(200);
      rmSync(join(server.dataDir, 'rules'), { recursive: true });
      const refused = await call(server, { method: 'POST', path: rulesPath('acc'), body });
      expect(refused.status).toBe(503);
      expect(refused.json.errors[0].code).toBe(10503);
      const readyUrl = server.baseUrl.replace('/client/v4', '/readyz');
      const answer = await until('readiness says so', async () => {
        const response = await fetch(readyUrl);
        return response.status === 503 && ((await response.json()) as { checks: { store: string } });
      });
      expect(answer.checks.store).toMatch(/was removed or replaced/);
    } finally {
      await server.stop();
    }
  });
});
