import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { RulesClient } from '../../src/rules/client/index.ts';
import { checkNewZonePolicy, type NewRule } from '../../src/rules/index.ts';
import { applyPlan, type Plan, planFor } from '../../src/rules/plan/index.ts';
import { PROGRAM } from '../support/program.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { until } from '../support/until.ts';
import { call } from './support/call.ts';
import { clientEnvironment, floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

let server: RulesServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-apply-'));
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const region = (name: string, fields: object = {}) =>
  ({ ...newRule, scope: 'region', name, ...fields }) as NewRule;
const stored = async (account: string) => (await call(server, { path: rulesPath(account) })).json.result;
const create = async (account: string, rule: NewRule) =>
  (await call(server, { method: 'POST', path: rulesPath(account), body: rule })).json.result;

function fileOf(rules: readonly NewRule[]): string {
  const file = join(folder, `${rules.map(({ name }) => name).join('-')}.yaml`);
  writeFileSync(file, stringify({ rules }));
  return file;
}

/**
 * Starts a proxy in front of the server. If `spoil` returns true for a request, the proxy discards the server's
 * response.
 */
async function proxied(
  spoil: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<string> {
  const { hostname, port } = new URL(server.baseUrl);
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = request({ hostname, port, method, path: url, headers }, (answer) => {
      answer.resume().on('end', () => undefined);
      if (spoil(incoming, outgoing)) return;
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe('applyPlan, twice for one file,', () => {
  const client = (accountId: string) => new RulesClient({ baseUrl: server.baseUrl, token: TOKEN, accountId });
  const apply = async (accountId: string, wanted: readonly NewRule[]) => {
    const own = client(accountId);
    return { own, plan: await planFor(own, { rules: wanted, zones: undefined }) };
  };

  it('creates each rule once if both run concurrently', async () => {
    const wanted = Array.from({ length: 8 }, (_, index) => region(`r${index}`));
    const runs = await Promise.all([apply('two', wanted), apply('two', wanted)]);
    await Promise.all(runs.map(({ own, plan }) => applyPlan(own, plan, { onStep: () => undefined })));
    expect((await stored('two')).map(({ name }: NewRule) => name).sort()).toEqual(
      wanted.map(({ name }) => name).sort(),
    );
    // A plan that was made during another apply: some rules exist already.
    const [early] = await Promise.all([apply('three', wanted)]);
    await create('three', region('r0'));
    const late = await apply('three', wanted.slice(0, 4));
    await applyPlan(late.own, late.plan, { onStep: () => undefined });
    await applyPlan(early.own, { ...early.plan, creates: wanted.slice(1) }, { onStep: () => undefined });
    expect(await stored('three')).toHaveLength(wanted.length);
  });

  it('creates each zone policy once if both run concurrently, and again after a deletion', async () => {
    const zones = Array.from({ length: 4 }, (_, index) => checkNewZonePolicy({ zone: `z${index}.example` }));
    for (let round = 0; round < 2; round++) {
      const clients = [client('zones'), client('zones')];
      const plans = await Promise.all(clients.map((own) => planFor(own, { rules: [], zones })));
      await Promise.all(
        clients.map(
          (own, index) => applyPlan(own, plans[index] as Plan, { onStep: () => undefined }), // one plan per client
        ),
      );
      const stored = await client('zones').zones.list();
      expect(stored.map(({ zone }) => zone).sort()).toEqual(zones.map(({ zone }) => zone));
      await client('zones').zones.deleteAll();
    }
  });

  it('creates a rule again that was deleted in between', async () => {
    for (let round = 0; round < 3; round++) {
      const { own, plan } = await apply('again', [region('a')]);
      await applyPlan(own, plan, { onStep: () => undefined });
      expect(await stored('again')).toHaveLength(1);
      await own.rules.deleteAll();
    }
  });
});

describe('floodgate rules apply', () => {
  it('detects that a change was made although its response was lost', async () => {
    const { id } = await create('lost', region('a'));
    let lost = 0;
    const url = await proxied(({ method, socket }) => {
      if (method !== 'PATCH' || lost > 0) return false;
      lost++;
      socket.destroy();
      return true;
    });
    const file = fileOf([region('a', { mode: 'disabled' })]);
    const env = { ...clientEnvironment(server, 'lost'), FLOODGATE_URL: url };
    const { status, stderr } = await floodgate(['rules', 'apply', file, '--force'], { env });
    expect([lost, status, stderr]).toEqual([1, 0, '']);
    expect(await stored('lost')).toMatchObject([{ id, mode: 'disabled' }]);
  });

  it('stops if another client changed the rule after a lost response', async () => {
    await create('other', region('a'));
    let lost = 0;
    const url = await proxied(({ method, socket, url: path, headers }) => {
      if (method !== 'PATCH' || lost > 0) return false;
      lost++;
      const { hostname, port } = new URL(server.baseUrl);
      const body = JSON.stringify({ burst_sensitivity: 'high' });
      const options = { hostname, port, path, method, headers: { authorization: headers.authorization } };
      request(options, (answer) => answer.resume().on('end', () => socket.destroy())).end(body);
      return true;
    });
    const file = fileOf([region('a', { rate_sensitivity: 'high' })]);
    const env = { ...clientEnvironment(server, 'other'), FLOODGATE_URL: url };
    const { status, stderr } = await floodgate(['rules', 'apply', file, '--force'], { env });
    expect([status, stderr]).toEqual([1, expect.stringContaining('was changed since the plan was made')]);
  });

  it('waits for the time in Retry-After, and prints the number of changes made on Ctrl-C', async () => {
    await create('wait', region('a'));
    const url = await proxied(({ method }, response) => {
      if (method !== 'POST') return false;
      response.writeHead(429, { 'retry-after': '3600' }).end('{}');
      return true;
    });
    const file = fileOf([region('a', { mode: 'disabled' }), region('b')]);
    const child = spawnGuarded(process.execPath, [PROGRAM, 'rules', 'apply', file, '--force'], {
      cwd: folder,
      env: { ...process.env, ...clientEnvironment(server, 'wait'), FLOODGATE_URL: url },
    });
    const ended = once(child, 'close');
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await until('the message that it waits', () => stderr.includes('waiting 3600 s'));
    child.kill('SIGINT');
    expect(await ended).toEqual([1, null]);
    expect(stderr).toContain('floodgate: Interrupted\n1 of 2 changes were applied; run plan again');
    expect(stderr).not.toContain('    at ');
  });
});
