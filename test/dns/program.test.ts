import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { query, RCODE, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { type Program, startProgram } from './support/program.ts';
import { TcpClient } from './support/tcpClient.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const run = promisify(execFile);
const RULE = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};
const UNKNOWN_DROPPED = 'outcome="dropped",reason="unknownName"';

let folder: string;
let server: AuthorityServer;
let client: UdpClient;
let program: Program | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  client = await new UdpClient().open();
});
afterEach(async () => {
  await program?.stop();
  program = undefined;
  client.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const start = async (...flags: string[]): Promise<Program> => {
  program = await startProgram(
    folder,
    server,
    '--dns-zones',
    `${ZONE_NAME}=${join(folder, 'zone')}`,
    ...flags,
  );
  return program;
};
/** A flood of random names that is over when the guard has read all of it. */
async function flood({ dns }: Program, queries = 2000): Promise<void> {
  for (let i = 0; i < queries; i++) {
    client.send(query(`x${i}.${ZONE_NAME}`, 1, 10_000 + i), dns);
    if (i % 100 === 0) await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dns);
  }
  await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dns);
}

describe('a rule made through the API', () => {
  it('is in force at the guard at once, and so is each change of it', async () => {
    const started = await start();
    await flood(started);
    expect(await started.metrics()).not.toContain(UNKNOWN_DROPPED);
    const { json } = await started.api('POST', '', RULE);
    await flood(started);
    const dropped = () =>
      started.metrics().then((text) => Number(new RegExp(`${UNKNOWN_DROPPED}} (\\d+)`).exec(text)?.[1] ?? 0));
    const before = await dropped();
    expect(before).toBeGreaterThan(500);
    await started.api('PATCH', `/${json.result.id}`, { mode: 'monitoring' });
    await flood(started);
    expect(await dropped()).toBe(before);
    expect(await started.metrics()).toContain('outcome="wouldDrop"');
    await started.api('DELETE', `/${json.result.id}`);
    expect(await client.ask(query(`none.${ZONE_NAME}`, 1, 2), started.dns)).toMatchObject({
      rcode: RCODE.NXDOMAIN,
    });
  });

  it('shows in its analytics what was done under it, also after a restart', async () => {
    let started = await start();
    const { json } = await started.api('POST', '', RULE);
    await flood(started);
    await started.stop();
    started = await start();
    const { status, json: analytics } = await started.api('GET', `/${json.result.id}/analytics`);
    expect(status).toBe(200);
    const { totals, now, minutes } = analytics.result;
    expect(totals.dropped).toBeGreaterThan(500);
    expect(totals.passed).toBe(21);
    expect(totals.reasons).toEqual({ unknownName: { paid: totals.paid, dropped: totals.dropped } });
    expect(now).toMatchObject({
      in_force: true,
      ready: true,
      threshold: { rate_per_second: 100, burst: 500 },
    });
    expect(minutes.length).toBeGreaterThanOrEqual(1);
    expect(minutes.flatMap(({ attacked_zones }: { attacked_zones: string[] }) => attacked_zones)).toContain(
      ZONE_NAME,
    );
  });

  it('whose analytics are asked for wrongly says what is wrong', async () => {
    const started = await start();
    const { json } = await started.api('POST', '', RULE);
    const errors = async (path: string) => {
      const { status, json: answer } = await started.api('GET', path);
      return [status, answer.errors.map(({ message }) => message).join()];
    };
    const analytics = `/${json.result.id}/analytics`;
    expect(await errors(`${analytics}?since=yesterday`)).toEqual([
      400,
      expect.stringContaining('since is no date'),
    ]);
    expect(await errors(`${analytics}?page=1`)).toEqual([
      400,
      expect.stringContaining('page is no parameter'),
    ]);
    expect(await errors(`${analytics}?since=2026-11-21T10:00:00Z&until=2026-11-20T10:00:00Z`)).toEqual([
      400,
      expect.stringContaining('after until'),
    ]);
    expect((await errors('/31c70c65-9f81-4669-94ed-1e1e041e7b06/analytics'))[0]).toBe(404);
  });

  it('applies only where the guard stands', async () => {
    const started = await start('--dns-region', 'WEUR', '--dns-datacenter', 'AMS');
    await started.api('POST', '', { ...RULE, scope: 'datacenter', name: 'lax' });
    await flood(started);
    expect(await started.metrics()).not.toContain(UNKNOWN_DROPPED);
    await started.api('POST', '', { ...RULE, scope: 'datacenter', name: 'ams' });
    await flood(started);
    expect(await started.metrics()).toContain(UNKNOWN_DROPPED);
  });
});

it('tells in its metrics which transfers it refused, and why connections were closed', async () => {
  const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
  const started = await start('--dns-transfers-allow', '127.0.0.2', '2001:db8::/32');
  expect(await client.ask(axfr, started.dns)).toMatchObject({ rcode: RCODE.REFUSED });
  for (const from of ['127.0.0.2', '127.0.0.3']) {
    const connection = await TcpClient.open(started.dns, from);
    expect(await connection.ask(axfr)).toMatchObject({ rcode: RCODE.REFUSED });
    connection.close();
  }
  await until('the connections are closed', async () =>
    /^floodgate_dns_tcp_closed_total\{reason="client"\} 2$/m.test(await started.metrics()),
  );
  const metrics = await started.metrics();
  for (const line of [
    'floodgate_dns_transfers_total{protocol="tcp",outcome="refused"} 1',
    'floodgate_dns_transfers_total{protocol="tcp",outcome="allowed"} 1',
    'floodgate_dns_tcp_messages_total{result="transfer"} 2',
    'floodgate_dns_tcp_accepted_total 2',
    'floodgate_dns_tcp_closed_total{reason="no_place"} 0',
    'floodgate_dns_tcp_connections 0',
  ])
    expect(metrics.split('\n')).toContain(line);
  // Counts of the threads that receive come in every second.
  await until('the one over UDP is counted', async () =>
    (await started.metrics()).includes('floodgate_dns_transfers_total{protocol="udp",outcome="refused"} 1'),
  );
});

it('a guard without servers, or with a bad address, is refused with the option that is wrong', async () => {
  const start = (...flags: string[]) =>
    run(process.execPath, [
      MAIN,
      'start',
      '--rules-only',
      '--port',
      '0',
      '--data-dir',
      folder,
      '--dns-account',
      'acme',
      ...flags,
    ]);
  await expect(start()).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining('dns.servers is empty'),
  });
  await expect(start('--dns-servers', 'ns1.example.test:53')).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining('192.0.2.1:53'),
  });
  await expect(start('--dns-servers', '127.0.0.1:0')).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining('nobody can be reached at port 0'),
  });
  await expect(start('--dns-servers', '127.0.0.1:53', '--dns-zones', 'a..b=zone')).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining('dns.zones: "a..b" is no domain name'),
  });
  const taken = `${server.host}:${server.port}`;
  await expect(start('--dns-servers', taken, '--dns-listen', taken)).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining('a port that is free'),
  });
  await expect(start('--dns-servers', taken, '--dns-transfers-allow', '192.0.2.7/24')).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/dns\.transfers\.allow: "192\.0\.2\.7\/24" has bits set behind its prefix/),
  });
});
