import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { run } from '../server/support/run.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { PROGRAM } from '../support/program.ts';
import { type RunningProgram, runProgram } from '../support/runProgram.ts';
import { until } from '../support/until.ts';
import { shellBlocksOf } from './support/commands.ts';

const ZONE_TEXT = `$TTL 300
@ IN SOA ns1 hostmaster ( 1 3600 600 86400 300 )
@ NS ns1
ns1 A 192.0.2.1
www A 192.0.2.80
`;
const [START, ...BLOCKS] = shellBlocksOf('docs/start/dns.md').map(({ script }) => script);
const hasDig = (await run('dig', ['-v']).catch(() => undefined))?.code === 0;

describe('the commands of docs/start/dns.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-dns-start-'));
  let authority: AuthorityServer;
  let server: RunningProgram;
  /** 0 for any free port. */
  let dnsPort = 0;
  /** Replaces the addresses and paths of the page. */
  const here = (script: string): string =>
    script
      .replaceAll('/var/lib/floodgate', join(folder, 'data'))
      .replaceAll('/etc/zones/example.com', join(folder, 'example.com'))
      .replaceAll('192.0.2.1:53', `127.0.0.1:${authority.port}`)
      .replaceAll('5353', String(dnsPort))
      .replaceAll(/\bfloodgate (?=[a-z])/g, `'${process.execPath}' '${PROGRAM}' `);

  beforeAll(async () => {
    writeFileSync(join(folder, 'example.com'), ZONE_TEXT);
    authority = await serveZones([new ZoneData(ZONE_TEXT, 'example.com')], '127.0.0.1', 0);
  });
  afterAll(async () => {
    await server?.stop();
    await authority?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it(`protect a zone${hasDig ? '' : ' (without dig, which is not installed)'}`, async () => {
    const args = here(START ?? '')
      .replaceAll('\\\n', '')
      .trim()
      .split(/\s+/)
      .slice(2);
    server = await runProgram([...args, '--port', '0'], { env: cleanEnvironment() });
    const { url } = server;
    ({ dnsPort } = server);
    await until('a ready guard', async () =>
      (await (await fetch(`${url}/readyz`)).text()).includes('"dns":"ok"'),
    );
    const script = here(BLOCKS.join('\n'))
      .split('\n')
      .filter((line) => hasDig || !line.startsWith('dig '))
      .join('\n');
    const env = { PATH: process.env['PATH'] ?? '', FLOODGATE_URL: url };
    const { code, stdout, stderr } = await run('sh', ['-e', '-c', script], { cwd: folder, env });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('ready');
    if (hasDig) expect(stdout).toContain('192.0.2.80');
    expect(stdout).toMatch(/www\.example\.com A: passes\n.*\n +name +known/);
    expect(stdout).toMatch(/random1234\.example\.com A: passes\n.*\n +name +not known/);
    expect(stdout).toMatch(/ enabled /);
  });
});
