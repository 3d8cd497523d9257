import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { open as openLmdb, type RootDatabase } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, indexBlock, type TraceStore } from '../../src/ethereum/traces/index.ts';
import { checkNewZonePolicy, type RulesStorage } from '../../src/rules/index.ts';
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
/** The account of a rule that always exists. */
const KEPT = 'kept';
/** Number of inconsistent copies, made during writes. */
const TORN_COPIES = 5;
const PIECE_BYTES = 64 * 1024;
/** Pause between two writes, so that copying processes get CPU time. */
const PAUSE_MS = 1;

/** Writes rules and blocks continuously, like a server. */
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
    const { rules, lists, zonePolicies } = this.rules;
    const denied = { accountId: 'acc', list: 'denylist' } as const;
    await rules.create(KEPT, newRule, { actor });
    while (!this.#isStopped) {
      const { item: rule } = await rules.create('acc', newRule, { actor });
      await rules.update('acc', rule.id, { decide: () => ({ mode: 'monitoring' }), actor });
      const { id } = (
        await lists.create(denied, { prefix: '192.0.2.7', comment: '', enabled: true }, { actor })
      ).item;
      await lists.update(denied, id, { decide: () => ({ enabled: false }), actor });
      const zone = checkNewZonePolicy({ zone: `zone-${this.written}.example` });
      const { item: policy } = await zonePolicies.create('acc', zone, { actor });
      await zonePolicies.update('acc', policy.id, { decide: () => ({ rate: 7 }), actor });
      if (++this.written % 2 === 0) await rules.delete('acc', rule.id, { check: () => undefined, actor });
      if (this.written % 2 === 0) await lists.delete(denied, id, { check: () => undefined, actor });
      if (this.written % 2 === 0)
        await zonePolicies.delete('acc', policy.id, { check: () => undefined, actor });
      if (this.written % 500 === 0) await zonePolicies.deleteAll('acc', actor);
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
      'some rules and blocks',
      () => writer.written > 20 && (writer.traces.head() as { number: number } | undefined)?.number,
    );
  });
  afterAll(async () => {
    await writer?.stop();
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  it('are consistent and can be restored if made by floodgate backup during writes', async () => {
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
      /already contains rules, traces/,
    );
    expect((await floodgate(['backup', backup, '--data-dir', dataDir])).stderr).toMatch(/is not empty/);
  });

  it('can be opened only after floodgate verify', async () => {
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

  it('are reported as damaged, or happen to be consistent, if made by cp during writes', async () => {
    const copies = folder();
    for (let i = 0; i < TORN_COPIES; i++) {
      // Named like the index of a network, so that one command verifies all.
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
    for (const verdict of verdicts) expect(verdict).toMatch(/^traces-torn\d: (whole$|failed: )/);
    expect(verdicts[0]).toMatch(/damaged/);
  });

  describe('without a writer', () => {
    // The writer would use all available CPU time.
    beforeAll(() => writer.stop());

    it('are not reported as damaged if a newer version has written them', async () => {
      const backup = join(folder(), 'backup');
      await backupData(dataDir, backup);
      const root = openLmdb({ path: join(backup, 'rules'), maxDbs: 16 });
      const format = root.openDB<number, string>({
        name: 'format',
        encoding: 'json',
        keyEncoding: 'ordered-binary',
      });
      await format.put('format', 99);
      await root.close();
      const { stdout, stderr } = await floodgate(['verify', '--data-dir', backup]);
      expect(stdout).toMatch(/^rules: failed: .* has format 99, .* start the newer version again/);
      expect(stdout + stderr).not.toContain('is damaged');
    });

    it('are reported as damaged if rules differ from the audit log', async () => {
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
      expect(stdout).toMatch(/^rules: failed: a record of the rules is damaged: its checksum does not match/);
    });

    it('are reported as damaged if access lists differ from the audit log, but not if there are none', async () => {
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
      const { id } = (await again.lists.create({ accountId: 'acc', list: 'allowlist' }, entry, { actor }))
        .item;
      await again.close();
      await change((root) =>
        root.openDB({ name: 'listEntries', encoding: 'binary' }).remove(['acc', 'allowlist', id]),
      );
      expect(await verified()).toMatch(`entry acc/allowlist/${id} is missing`);
      expect(await verified()).toMatch('the allowlist of account acc is recorded with 1 entries but has 0');
    });

    it('are reported as damaged if zone policies differ from the audit log or from their index', async () => {
      const made = folder();
      const storage = openRulesStorage(made);
      const zones = ['one.example', 'two.example'].map((zone) => checkNewZonePolicy({ zone }));
      const ids: string[] = [];
      for (const zone of zones) ids.push((await storage.zonePolicies.create('acc', zone, { actor })).item.id);
      await storage.close();
      const [one = '', two = ''] = ids;
      const verified = async () => (await floodgate(['verify', '--data-dir', made])).stdout;
      expect(await verified()).toBe('rules: whole\n');
      const root = openLmdb({ path: join(made, 'rules'), maxDbs: 20 });
      await root.openDB({ name: 'zonePolicies', encoding: 'binary' }).remove(['acc', one]);
      await root.openDB({ name: 'zoneIds', encoding: 'json' }).remove(['acc', 'two.example']);
      await root.close();
      const problems = await verified();
      expect(problems).toMatch(`zone policy acc/${one} is missing`);
      expect(problems).toMatch(`zone acc one.example has no policy ${one}`);
      expect(problems).toMatch(`zone policy acc/${two} is missing in the index of zones`);
      expect(problems).toMatch('account acc is recorded with 2 zone policies but has 1');
    });
  });

  /** Copies a file piece by piece while it is being written, like `cp` of a large file. */
  async function copySlowly(from: string, to: string): Promise<void> {
    const source = await open(from, 'r');
    const { size } = await source.stat();
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const { buffer, bytesRead } = await source.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at);
      appendFileSync(to, buffer.subarray(0, bytesRead));
      const before = writer.written;
      if (at % (PIECE_BYTES * 8) === 0) await until('another write', () => writer.written > before);
    }
    await source.close();
  }
});

describe('a server whose store file was removed', () => {
  it('rejects writes and is not ready', async () => {
    const server = await startServer();
    try {
      const body = newRule;
      expect((await call(server, { method: 'POST', path: rulesPath('acc'), body })).status).toBe(200);
      rmSync(join(server.dataDir, 'rules'), { recursive: true });
      const refused = await call(server, { method: 'POST', path: rulesPath('acc'), body });
      expect(refused.status).toBe(503);
      expect(refused.json.errors[0].code).toBe(10503);
      const readyUrl = server.baseUrl.replace('/client/v4', '/readyz');
      const answer = await until('503 from /readyz', async () => {
        const response = await fetch(readyUrl);
        return response.status === 503 && ((await response.json()) as { checks: { store: string } });
      });
      expect(answer.checks.store).toMatch(/was removed or replaced/);
    } finally {
      await server.stop();
    }
  });
});
