import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DevServer, startDevServer } from '../console/support/devServer.ts';
import { startServer } from '../rules/support/server.ts';
import { until } from '../support/until.ts';
import { floodgate } from './support/run.ts';

let dataDir: string;
let server: DevServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'floodgate-flood-'));
  server = await startDevServer(dataDir, 0, { flags: ['--flood', '--dns-listen', '127.0.0.1:0'] });
});
afterAll(async () => {
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const start = (headers: Record<string, string>, at = server.url) =>
  fetch(`${at}/operations/test-flood`, { method: 'POST', headers });

it('floodgate dev --flood shows an attack, and a second flood is rejected while one runs', async () => {
  const headers = { authorization: `Bearer ${server.token}` };
  const path = `/client/v4/accounts/${server.account}/network/advanced_dns_protection/configs/dns_protection/status`;
  const status = async () =>
    ((await (await fetch(server.url + path, { headers })).json()) as { result: GuardState }).result;
  const attack = await until('an attack', async () => (await status()).attacks[0]);
  expect(attack.zones).toEqual(['example.test']);
  expect((await status()).test_flood).toEqual({ ends_on: expect.stringMatching(/Z$/) });
  const again = await start(headers);
  expect([again.status, await again.text()]).toEqual([
    400,
    expect.stringContaining('a test flood is running'),
  ]);
  expect((await start({})).status).toBe(401);
});

interface GuardState {
  readonly attacks: readonly { readonly zones: readonly string[] }[];
  readonly test_flood?: object;
}

it('floodgate start has no test flood, and dev --flood floods no servers of the user', async () => {
  const plain = await startServer();
  expect((await start({ authorization: `Bearer ${server.token}` }, plain.url)).status).toBe(404);
  await plain.stop();
  const folder = join(dataDir, 'other');
  const flags = ['--data-dir', folder, '--port', '0', '--dns-servers', '127.0.0.1:1'];
  const refused = await floodgate(['dev', '--role', 'rules,guard', '--flood', ...flags]);
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('omit --dns-servers')]);
});
