import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate } from '../rules/support/command.ts';
import { rulesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

/** An address without a listener. */
const NOBODY = '127.0.0.1:9';
const FOLDERS = ['rules', 'gateway', 'traces', 'dns'];
const RULES = `/client/v4${rulesPath('a')}`;

/** Servers without shared databases; test/server/scaleOut.test.ts tests the others. */
describe('a server opens only the parts that its roles need', () => {
  let gateway: Floodgate;
  let rules: Floodgate;
  beforeAll(async () => {
    [gateway, rules] = await Promise.all([
      startFloodgate({
        args: ['--role', 'gateway,ingest', '--dns-account', 'a'],
        upstream: `http://${NOBODY}`,
        whenListening: true,
      }),
      // Options of other roles are accepted, because all servers may share one configuration file.
      startFloodgate({
        args: ['--role', 'rules', '--dns-account', 'a', '--dns-servers', NOBODY],
        upstream: `http://${NOBODY}`,
      }),
    ]);
  });
  afterAll(() => Promise.all([gateway?.stop(), rules?.stop()]));

  const statusOf = async ({ url }: Floodgate, path: string, method = 'GET') =>
    (await fetch(url + path, { method })).status;
  const foldersOf = ({ dataDir }: Floodgate) => FOLDERS.filter((name) => existsSync(join(dataDir, name)));
  const rolesOf = async ({ url }: Floodgate) =>
    ((await (await fetch(`${url}/readyz`)).json()) as { roles: string[] }).roles;

  it('gateway and ingest: no rules, no guard', async () => {
    expect(await rolesOf(gateway)).toEqual(['gateway', 'ingest']);
    expect(await statusOf(gateway, '/v1/mainnet', 'POST')).toBe(415);
    expect(await statusOf(gateway, RULES)).toBe(404);
    expect(await statusOf(gateway, '/operations/nodes')).toBe(404);
    expect(foldersOf(gateway)).toEqual(['gateway', 'traces']);
    expect(gateway.dnsPort).toBe(0);
    const { served } = (await (await fetch(`${gateway.url}/nothing`)).json()) as { served: string[] };
    expect(served).toEqual(['/v1/mainnet', '/healthz', '/readyz', '/metrics']);
  });

  it('rules: no gateway, no nodes, no guard', async () => {
    expect(await rolesOf(rules)).toEqual(['rules']);
    expect(await statusOf(rules, '/v1/mainnet', 'POST')).toBe(404);
    expect(await statusOf(rules, RULES)).toBe(401);
    expect(foldersOf(rules)).toEqual(['rules']);
    expect(rules.dnsPort).toBe(0);
    const metrics = await (await fetch(`${rules.url}/metrics`)).text();
    expect(metrics.match(/^floodgate_role.*$/gm)).toEqual([
      'floodgate_role{role="gateway"} 0',
      'floodgate_role{role="ingest"} 0',
      'floodgate_role{role="rules"} 1',
      'floodgate_role{role="guard"} 0',
    ]);
    expect(metrics).not.toContain('floodgate_upstream_up{');
  });

  it('and reports its roles in the log, floodgate status and /client/v4/health', async () => {
    expect(gateway.output()).toMatch(/"roles":\["gateway","ingest"\].*"msg":"listening"/);
    expect((await floodgate(['status', '--url', rules.url])).stdout).toMatch(/^ {2}roles +rules$/m);
    const json = await floodgate(['status', '--url', gateway.url, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ roles: ['gateway', 'ingest'] });
    const headers = { authorization: `Bearer ${rules.token}` };
    const health = await fetch(`${rules.url}/client/v4/health`, { headers });
    expect(await health.json()).toMatchObject({ result: { roles: ['rules'], checks: { store: 'ok' } } });
  });
});
