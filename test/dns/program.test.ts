import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { query, RCODE, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { type Program, startProgram } from './support/program.ts';
import { TcpClient } from './support/tcpClient.ts';

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

/** A program for tests without special options and restarts, and another that is restarted. */
let shared: Program;
let restarted: Program;
const folders: string[] = [];
let server: AuthorityServer;
let client: UdpClient;
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  folders.push(folder);
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  return folder;
};
const start = (folder: string, ...flags: string[]): Promise<Program> =>
  startProgram(folder, server, '--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`, ...flags);
beforeAll(async () => {
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  client = await new UdpClient().open();
  const place = ['--dns-region', 'WEUR', '--dns-datacenter', 'AMS'];
  [shared, restarted] = await Promise.all([
    newFolder().then((folder) =>
      start(folder, ...place, '--dns-transfers-allow', '127.0.0.2', '2001:db8::/32'),
    ),
    newFolder().then((folder) => start(folder)),
  ]);
});
afterAll(async () => {
  client.close();
  await Promise.all([shared?.stop(), restarted?.stop(), server.stop()]);
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
/** Each test creates its own rules. */
afterEach(async () => {
  const { json } = await shared.api('GET');
  for (const { id } of json.result) await shared.api('DELETE', `/${id}`);
});

const dropped = async (program: Program): Promise<number> => {
  const counts = (await program.metrics()).matchAll(new RegExp(`${UNKNOWN_DROPPED}} (\\d+)`, 'g'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};
const FLOOD = 2000;
const FLOOD_BETWEEN_KNOWN = 100;
/** Queries for a known name in each flood. When they are answered, the guard has read everything before them. */
const KNOWN_IN_FLOOD = FLOOD / FLOOD_BETWEEN_KNOWN + 1;

/** Sends a flood of random names, and resolves when the guard has read all of it. */
async function flood({ dns }: Program): Promise<void> {
  for (let i = 0; i < FLOOD; i++) {
    client.send(query(`x${i}.${ZONE_NAME}`, 1, 10_000 + i), dns);
    if (i % FLOOD_BETWEEN_KNOWN === 0) await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dns);
  }
  await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dns);
}

/**
 * Floods until at least this many more queries were dropped, and returns the number of floods. A slow machine may
 * need several, because the bucket refills.
 */
async function floodUntilDropped(program: Program, queries: number): Promise<number> {
  const before = await dropped(program);
  let floods = 0;
  await until(`${queries} more queries to be dropped`, async () => {
    await flood(program);
    floods++;
    return (await dropped(program)) > before + queries;
  });
  return floods;
}

describe('a rule created through the API', () => {
  it('is in force at once, and so is each change', async () => {
    const before = await dropped(shared);
    await flood(shared);
    expect(await dropped(shared)).toBe(before);
    const { json } = await shared.api('POST', '', RULE);
    await floodUntilDropped(shared, 500);
    const enabled = await dropped(shared);
    await shared.api('PATCH', `/${json.result.id}`, { mode: 'monitoring' });
    await flood(shared);
    expect(await dropped(shared)).toBe(enabled);
    expect(await shared.metrics()).toContain('outcome="wouldDrop"');
    await shared.api('DELETE', `/${json.result.id}`);
    expect(await client.ask(query(`none.${ZONE_NAME}`, 1, 2), shared.dns)).toMatchObject({
      rcode: RCODE.NXDOMAIN,
    });
  });

  it('shows in its analytics the queries that it limited, also after a restart', async () => {
    const { json } = await restarted.api('POST', '', RULE);
    const floods = await floodUntilDropped(restarted, 500);
    await restarted.stop();
    restarted = await start(restarted.dataDir);
    const { status, json: analytics } = await restarted.api('GET', `/${json.result.id}/analytics`);
    expect(status).toBe(200);
    const { totals, now, minutes } = analytics.result;
    expect(totals.dropped).toBeGreaterThan(500);
    // A client may retry after a second without an answer, so there may be more.
    expect(totals.passed).toBeGreaterThanOrEqual(floods * KNOWN_IN_FLOOD);
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

  it('rejects invalid analytics parameters with messages that name them', async () => {
    const { json } = await shared.api('POST', '', RULE);
    const errors = async (path: string) => {
      const { status, json: answer } = await shared.api('GET', path);
      return [status, answer.errors.map(({ message }) => message).join()];
    };
    const analytics = `/${json.result.id}/analytics`;
    for (const since of ['yesterday', '2026-11-20T10:00:00', '2026-02-30T10:00:00Z'])
      expect(await errors(`${analytics}?since=${since}`)).toEqual([
        400,
        expect.stringContaining('since must be an RFC 3339 date'),
      ]);
    expect(await errors(`${analytics}?page=1`)).toEqual([
      400,
      expect.stringContaining('page is not a parameter'),
    ]);
    expect(await errors(`${analytics}?since=2026-11-21T10:00:00Z&until=2026-11-20T10:00:00Z`)).toEqual([
      400,
      expect.stringContaining('after until'),
    ]);
    expect((await errors('/31c70c65-9f81-4669-94ed-1e1e041e7b06/analytics'))[0]).toBe(404);
  });

  it('applies only at the location of its scope', async () => {
    const before = await dropped(shared);
    await shared.api('POST', '', { ...RULE, scope: 'datacenter', name: 'lax' });
    await flood(shared);
    expect(await dropped(shared)).toBe(before);
    await shared.api('POST', '', { ...RULE, scope: 'datacenter', name: 'ams' });
    await floodUntilDropped(shared, 0);
  });
});

it('metrics report refused transfers and the reasons for closed TCP connections', async () => {
  const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
  const started = shared;
  expect(await client.ask(axfr, started.dns)).toMatchObject({ rcode: RCODE.REFUSED });
  for (const from of ['127.0.0.2', '127.0.0.3']) {
    const connection = await TcpClient.open(started.dns, from);
    expect(await connection.ask(axfr)).toMatchObject({ rcode: RCODE.REFUSED });
    connection.close();
  }
  await until('the connections to be closed', async () =>
    /^floodgate_dns_tcp_closed_total\{reason="client"\} 2$/m.test(await started.metrics()),
  );
  const metrics = await started.metrics();
  for (const line of [
    'floodgate_dns_transfers_total{protocol="tcp",outcome="refused"} 1',
    'floodgate_dns_transfers_total{protocol="tcp",outcome="allowed"} 1',
    'floodgate_dns_tcp_messages_total{result="transfer"} 2',
    'floodgate_dns_tcp_accepted_total 2',
    'floodgate_dns_tcp_closed_total{reason="no_slot"} 0',
    'floodgate_dns_tcp_connections 0',
  ])
    expect(metrics.split('\n')).toContain(line);
  // Threads report their counts every second.
  await until('the refused transfer over UDP to be counted', async () =>
    (await started.metrics()).includes('floodgate_dns_transfers_total{protocol="udp",outcome="refused"} 1'),
  );
});

it('floodgate start fails if servers are missing or an address is invalid, and names the option', async () => {
  const taken = `${server.host}:${server.port}`;
  const refused = async (message: string | RegExp, ...flags: string[]): Promise<void> => {
    const fixed = [
      '--role',
      'rules,guard',
      '--port',
      '0',
      '--data-dir',
      await newFolder(),
      '--dns-account',
      'acme',
    ];
    await expect(run(process.execPath, [PROGRAM, 'start', ...fixed, ...flags])).rejects.toMatchObject({
      code: 64,
      stderr: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    });
  };
  await Promise.all([
    refused('dns.servers is empty'),
    refused('192.0.2.1:53', '--dns-servers', 'ns1.example.test:53'),
    refused('port 0 is not a valid destination', '--dns-servers', '127.0.0.1:0'),
    refused(
      'dns.zones: "a..b" is not a domain name',
      '--dns-servers',
      '127.0.0.1:53',
      '--dns-zones',
      'a..b=zone',
    ),
    refused('and a free port', '--dns-servers', '127.0.0.1:53', '--dns-listen', taken),
    refused('where the guard itself listens', '--dns-servers', taken, '--dns-listen', taken),
    refused(
      /dns\.transfers\.allow: "192\.0\.2\.7\/24" has bits set after its prefix/,
      '--dns-servers',
      taken,
      '--dns-transfers-allow',
      '192.0.2.7/24',
    ),
  ]);
});

describe('access lists changed through the API', () => {
  const names = (list: string) => `/../../${list}`;

  it('are in force at once over UDP and TCP, under any rule', async () => {
    const { dns } = shared;
    const from = await new UdpClient().open('127.0.0.5');
    const www = query(`www.${ZONE_NAME}`, QueryType.A, 1);
    expect(await from.ask(www, dns)).toMatchObject({ rcode: RCODE.NOERROR });
    const denied = await shared.api('POST', names('denylist'), { prefix: '127.0.0.4/31' });
    expect(denied.status).toBe(200);
    from.answers.clear();
    from.send(www, dns);
    // A later query on the same socket: its answer proves that the guard has read the denied one.
    expect(await client.ask(www, dns)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(from.answers.size).toBe(0);
    const refused = await TcpClient.open(dns, '127.0.0.5');
    expect(await refused.ask(www)).toMatchObject({ rcode: RCODE.REFUSED });
    refused.close();
    await shared.api('POST', names('allowlist'), { prefix: '127.0.0.5' });
    expect(await from.ask(www, dns)).toMatchObject({ rcode: RCODE.NOERROR });
    await shared.api('DELETE', names('allowlist'));
    await shared.api('PATCH', `${names('denylist')}/${denied.json.result.id}`, { enabled: false });
    expect(await from.ask(www, dns)).toMatchObject({ rcode: RCODE.NOERROR });
    await shared.api('POST', names('denylist'), { name: ZONE_NAME });
    const byName = await TcpClient.open(dns);
    expect(await byName.ask(www)).toMatchObject({ rcode: RCODE.REFUSED });
    byName.close();
    await shared.api('DELETE', names('denylist'));
    expect(await from.ask(www, dns)).toMatchObject({ rcode: RCODE.NOERROR });
    from.close();
    // The thread that serves TCP sends its counters every second.
    await until('the denied queries to be counted', async () =>
      (await shared.metrics()).includes(
        'floodgate_dns_tcp_queries_total{outcome="dropped",reason="accessList"} 2',
      ),
    );
  });
});
