import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { RULE, ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { type Program, startProgram, TOKEN } from '../dns/support/program.ts';
import { run } from '../server/support/run.ts';
import { PROGRAM } from '../support/program.ts';
import { shellBlocksOf } from './support/commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-special-zones-'));
let server: AuthorityServer;
let program: Program;
beforeAll(async () => {
  writeFileSync(join(folder, 'zone'), ZONE_TEXT);
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  program = await startProgram(folder, server, '--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`);
});
afterAll(async () => {
  await program?.stop();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('the commands of docs/guides/special-zones.md create the policies that it describes', async () => {
  const { id, created_on, modified_on, ...rule } = RULE;
  await program.api('POST', '', rule);
  const script = shellBlocksOf('docs/guides/special-zones.md')
    .map((block) => block.script)
    .join('\n')
    .replaceAll('http://127.0.0.1:8420', program.url)
    .replaceAll('FLOODGATE_TOKEN=fg_…', `FLOODGATE_TOKEN=${TOKEN}`)
    .replaceAll(/\bfloodgate (?=[a-z])/g, `'${process.execPath}' '${PROGRAM}' `)
    .replaceAll(/^curl /gm, 'curl --fail-with-body ');
  const env = { PATH: process.env['PATH'] ?? '' };
  const { code, stdout, stderr } = await run('sh', ['-e', '-c', script], { cwd: folder, env });
  expect({ code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^floodgate_dns_upstreams_healthy 1$/m);
  const { json } = await program.api('GET', '/../zones?per_page=100');
  const policies = json.result.map(({ zone, ...rest }: { zone: string }) => [zone, rest]);
  expect(Object.fromEntries(policies)).toMatchObject({
    'tenants.example.com': { judge_by: 'rate', rate: 2000, burst: 10_000 },
    'hosting.example.com': { profile_sensitivity: 'low', unknown_per_second: 3000 },
    'bl.example.com': { judge_by: 'rate', rate: 600, burst: 3000 },
    '2.0.192.in-addr.arpa': { rate: 1000 },
    '0/25.2.0.192.in-addr.arpa': { rate: 200 },
    'moved.example': { mode: 'inherit' },
    'slow.example.com': { unknown_per_second: 100, rate: 50 },
    'shop.example.com': { only_when_upstream_unhealthy: true },
    'www.example.net': { mode: 'inherit', rate: 900 },
  });
  expect(policies).toHaveLength(9);
});
