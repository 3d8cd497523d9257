import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Cloudflare from 'cloudflare';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditView, Rule } from '../../src/rules/index.ts';
import { HANG_MS } from '../support/hang.ts';
import { sizeInSearch } from '../support/search.ts';
import { smallFileSystem, temporaryFolder } from '../support/smallFileSystem.ts';
import { call } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesProcess, type RulesServer, startServerProcess, TOKEN } from './support/server.ts';

async function started(options: Parameters<typeof startServerProcess>[0]): Promise<RulesProcess> {
  const server = await startServerProcess(options);
  onTestFinished(() => server.kill());
  return server;
}

const create = (server: RulesServer, account: string) =>
  call(server, { method: 'POST', path: rulesPath(account), body: newRule });
const list = async (server: RulesServer, account: string): Promise<Rule[]> =>
  (await call(server, { path: rulesPath(account) })).json.result;

async function auditOf(dataDir: string): Promise<AuditView[]> {
  const { status, stdout, stderr } = await floodgate(['audit', '--json', '--all', '--data-dir', dataDir]);
  expect(status, stderr).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * Returns the rules of an account after all changes in the audit log. Checks that each entry continues the previous
 * state.
 */
function replay(entries: readonly AuditView[], account: string): Rule[] {
  const rules = new Map<string, Rule>();
  for (const entry of entries) {
    if (!('rule' in entry) || entry.account !== account) continue;
    expect(entry.before).toEqual(rules.get(entry.rule));
    if (entry.after) rules.set(entry.rule, entry.after);
    else rules.delete(entry.rule);
  }
  return [...rules.values()];
}

const KILLS = sizeInSearch(4, { ordinary: 2 });

describe('the rule store, after kill -9 during 32 concurrent writers,', () => {
  it('contains every acknowledged change with its audit entry, and no partial change', async () => {
    const dataDir = temporaryFolder();
    const acknowledged: Rule[] = [];
    for (let round = 0; round < KILLS; round++) {
      const server = await started({ dataDir });
      const enough = acknowledged.length + 400;
      const writers = Array.from({ length: 32 }, (_, index) =>
        write(server, `kill-${index % 4}`, acknowledged),
      );
      await expect.poll(() => acknowledged.length, { timeout: HANG_MS, interval: 5 }).toBeGreaterThan(enough);
      await server.kill();
      await Promise.all(writers);
    }

    const server = await started({ dataDir });
    const audit = await auditOf(dataDir);
    const audited = new Map(audit.map((entry) => [entry.at, entry.after]));
    for (const rule of acknowledged) expect(audited.get(rule.modified_on)).toEqual(rule);
    for (let index = 0; index < 4; index++) {
      const account = `kill-${index}`;
      expect(await list(server, account)).toEqual(replay(audit, account));
    }
    expect((await create(server, 'kill-0')).status).toBe(200);
  });
});

/** Error codes of a request whose connection the server closed or did not accept. */
const BROKEN_CONNECTIONS = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'];

/** Creates a rule and changes it repeatedly until the connection breaks. Rejects for any other failure. */
async function write(server: RulesServer, account: string, acknowledged: Rule[]): Promise<void> {
  try {
    const { status, json } = await create(server, account);
    expect(status).toBe(200);
    acknowledged.push(json.result);
    const path = `${rulesPath(account)}/${json.result.id}`;
    for (let turn = 0; ; turn++) {
      const body = { mode: turn % 2 === 0 ? 'disabled' : 'enabled' };
      const answer = await call(server, { method: 'PATCH', path, body });
      expect(answer.status).toBe(200);
      acknowledged.push(answer.json.result);
    }
  } catch (error) {
    // The last change was not acknowledged.
    if (!BROKEN_CONNECTIONS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

describe('a server on a full disk', () => {
  it('rejects changes with 503, keeps all rules, and accepts changes after space is free again', async (context) => {
    const { folder } = smallFileSystem(context, 8 * 1024 * 1024);
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const server = await started({ dataDir });
    const kept = [(await create(server, 'full')).json.result];
    const filler = join(folder, 'filler');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(filler, Buffer.alloc((bavail - 16) * bsize));

    // Concurrent requests, so that whole group commits fail.
    const refusals = [];
    while (refusals.length < 20)
      for (const answer of await Promise.all(Array.from({ length: 8 }, () => create(server, 'full')))) {
        if (answer.status === 200) kept.push(answer.json.result);
        else refusals.push(answer);
      }
    for (const { status, json, headers } of refusals)
      expect([status, json.errors[0].code, headers['retry-after']]).toEqual([503, 10503, '1']);

    const complaints = server.output().match(/rule store unavailable/g) ?? [];
    expect(complaints.length).toBeGreaterThan(0);
    expect(complaints.length).toBeLessThan(refusals.length);

    const sameRules = async () => expect(new Set(await list(server, 'full'))).toEqual(new Set(kept));
    await sameRules();
    // A change needs less space than a create and may succeed. It is stored exactly if the status is 200.
    const path = `${rulesPath('full')}/${kept[0].id}`;
    const change = await call(server, { method: 'PATCH', path, body: { mode: 'disabled' } });
    expect([200, 503]).toContain(change.status);
    if (change.status === 200) kept[0] = change.json.result;
    await sameRules();
    for (let alone = await create(server, 'full'); alone.status === 200; alone = await create(server, 'full'))
      kept.push(alone.json.result);
    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 1 });
    // The readiness probe writes and deletes a record, which may leave space for one more rule.
    let refusal: unknown;
    while (refusal === undefined)
      await client
        .post<{ result: (typeof kept)[number] }>(rulesPath('full', 'magic'), { body: newRule })
        .then(({ result }) => kept.push(result))
        .catch((error: unknown) => {
          refusal = error;
        });
    expect(refusal).toBeInstanceOf(Cloudflare.InternalServerError);

    rmSync(filler);
    kept.push((await create(server, 'full')).json.result);
    await sameRules();
    const audit = await auditOf(dataDir);
    expect(new Set(replay(audit, 'full'))).toEqual(new Set(kept));
    await server.kill();
    const again = await started({ dataDir });
    expect(new Set(await list(again, 'full'))).toEqual(new Set(kept));
  });
});

describe('a server with a full store', () => {
  it('accepts deletions', async (context) => {
    const { folder } = smallFileSystem(context, 8 * 1024 * 1024);
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const server = await started({ dataDir });
    const kept: Rule[] = [(await create(server, 'full')).json.result];
    const denylist = '/accounts/full/network/advanced_dns_protection/configs/denylist';
    const deny = (prefix: string) => call(server, { method: 'POST', path: denylist, body: { prefix } });
    const entry = (await deny('192.0.2.1')).json.result;
    const filler = join(folder, 'filler');
    const { bavail, bsize } = statfsSync(folder);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The server allocated a page in the meantime; the rest of the disk is full.
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
    for (let refused = 0; refused < 5; ) {
      const { status, json } = await create(server, 'full');
      if (status === 200) kept.push(json.result);
      else refused++;
    }
    // An entry needs less space than a rule.
    let denied = 1;
    while ((await deny(`192.0.2.${++denied}`)).status === 200);
    const deleted = [`${denylist}/${entry.id}`, ...kept.map(({ id }) => `${rulesPath('full')}/${id}`)];
    for (const path of [...deleted, denylist])
      expect((await call(server, { method: 'DELETE', path })).status).toBe(200);
    expect((await call(server, { path: denylist })).json.result).toEqual([]);
    expect(await list(server, 'full')).toEqual([]);
    // The remaining space is reserved for deletions.
    expect((await create(server, 'full')).status).toBe(503);
    rmSync(filler);
    const rule = (await create(server, 'full')).json.result;
    expect(replay(await auditOf(dataDir), 'full')).toEqual([rule]);
  });
});

describe('a server on a read-only data folder', () => {
  it('does not start and names the folder', async (context) => {
    const { folder, readOnly } = smallFileSystem(context, 8 * 1024 * 1024);
    const before = await started({ dataDir: folder });
    await create(before, 'a');
    await before.stop();
    readOnly();
    const { status, stderr } = await floodgate(['start', '--role', 'rules', '--data-dir', folder]);
    expect(status).toBe(1);
    expect(stderr).toContain(folder);
    expect(stderr).not.toContain('    at ');
  });
});

describe('a second server on one data folder', () => {
  it('starts only after the first has stopped', async () => {
    const dataDir = temporaryFolder();
    const first = await started({ dataDir });
    const { status, stderr } = await floodgate([
      'start',
      '--role',
      'rules',
      '--port',
      '0',
      '--data-dir',
      dataDir,
    ]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`process ${first.process.pid}`)]);
    const rule = (await create(first, 'a')).json.result;
    await first.stop();
    const second = await started({ dataDir });
    expect(await list(second, 'a')).toEqual([rule]);
  });
});

describe('a server that is stopped', () => {
  it('finishes the changes in progress', async () => {
    const dataDir = temporaryFolder();
    const server = await started({ dataDir });
    const acknowledged: Rule[] = [];
    const writers = Array.from({ length: 8 }, () => write(server, 'stop', acknowledged));
    await expect.poll(() => acknowledged.length, { timeout: HANG_MS, interval: 5 }).toBeGreaterThan(100);
    await server.stop();
    await Promise.all(writers);
    const audited = new Map((await auditOf(dataDir)).map((entry) => [entry.at, entry.after]));
    for (const rule of acknowledged) expect(audited.get(rule.modified_on)).toEqual(rule);
    // A change that was written was also answered.
    expect(audited.size).toBe(acknowledged.length);
    expect(server.process.exitCode).toBe(0);
  });
});
