/** A server survives the exhaustion of its file descriptors, and answers again after clients have disconnected. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { atEnd } from '../dns/support/atEnd.ts';
import { openUdpClient } from '../dns/support/clients.ts';
import { askTcp, query, RCODE, type Target } from '../dns/support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { freePort } from '../support/freePort.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const LOOPBACK = '127.0.0.1';
/** A URL without a node. */
const NO_NODE = 'http://127.0.0.1:9';
const UNREAD = 'cannot read the addresses of the host';
const KNOWN = query(`www.${ZONE_NAME}`);

const missing = existsSync('/usr/bin/prlimit') ? undefined : 'prlimit is not installed';

/** Lowers the limit after the start, because the server does not start with a limit below 128. */
function limitDescriptors({ process: { pid } }: FloodgateProcess, limit: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
}

const openDescriptors = ({ process: { pid } }: FloodgateProcess): number =>
  readdirSync(`/proc/${pid}/fd`).length;

/** Opens connections that send nothing. */
function idleConnections(port: number, count: number): Socket[] {
  return Array.from({ length: count }, () => connect(port, LOOPBACK).on('error', () => undefined));
}

/** Whether an HTTP request receives a response with any status. */
function answersHttp(url: string): Promise<boolean> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    send(`${url}/healthz`, { agent: false, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(true);
    })
      .on('error', () => resolve(false))
      .end();
  });
}

async function started(config: Readonly<Record<string, unknown>>): Promise<FloodgateProcess> {
  const floodgate = await startFloodgateProcess({ config, whenListening: true });
  atEnd(() => floodgate.kill());
  return floodgate;
}

async function zoneServer(): Promise<string> {
  const authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  atEnd(() => authority.stop());
  return `${LOOPBACK}:${authority.port}`;
}

/** Returns the configuration of the operators' listener, with TLS if openssl is installed. */
function opsOverTls(): object {
  if (!hasOpenssl) return { port: 0 };
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-descriptors-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  makeCertificate(tls);
  return { port: 0, tls };
}

interface Listeners {
  readonly urls: readonly string[];
  readonly dns?: Target;
}

async function answersEverywhere({ urls, dns }: Listeners): Promise<void> {
  for (const url of urls) await until(`a response from ${url}`, () => answersHttp(url));
  if (dns === undefined) return;
  expect(await (await openUdpClient()).ask(KNOWN, dns)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
  await until('an answer over TCP', async () => {
    const answers = await askTcp([KNOWN], dns).catch(() => []);
    return answers[0]?.answers === 1;
  });
}

const urlsOf = (floodgate: FloodgateProcess): string[] => {
  const opsUrl = /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1] ?? '';
  return [...new Set([floodgate.url, opsUrl])];
};

/** Exhausts a limit of 64 descriptors with clients, disconnects them, and expects that all listeners answer again. */
async function survives(floodgate: FloodgateProcess, dns?: Target): Promise<void> {
  const urls = urlsOf(floodgate);
  await answersEverywhere({ urls, ...(dns && { dns }) });
  limitDescriptors(floodgate, 64);
  const ports = [...urls.map((url) => Number(new URL(url).port)), ...(dns ? [dns.port] : [])];
  const clients = ports.flatMap((port) => idleConnections(port, 100));
  await until('the exhaustion of descriptors', () => openDescriptors(floodgate) >= 64);
  if (dns !== undefined) {
    await until('the warning of the guard', () => floodgate.output().includes(UNREAD));
    expect(await (await openUdpClient()).ask(KNOWN, dns)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
  }
  for (const client of clients) client.destroy();
  await answersEverywhere({ urls, ...(dns && { dns }) });
  expect(floodgate.output()).not.toContain('background work failed');
  expect(await floodgate.stop()).toBe(0);
}

it.skipIf(missing)(
  `rules API and DNS guard survive the exhaustion of file descriptors${missing ? ` (${missing})` : ''}`,
  async () => {
    const dns = { host: LOOPBACK, port: await freePort() };
    const floodgate = await started({
      role: 'rules,guard',
      ops: opsOverTls(),
      dns: { account: 'a', listen: [`0.0.0.0:${dns.port}`], servers: [await zoneServer()] },
    });
    await survives(floodgate, dns);
  },
);

it.skipIf(missing)(
  `the gateway and the operators’ listener survive the exhaustion of file descriptors${missing ? ` (${missing})` : ''}`,
  async () => {
    await survives(await started({ role: 'gateway,ingest', upstream: [NO_NODE], ops: opsOverTls() }));
  },
);

it.skipIf(missing)(
  `the guard answers DNS while 400 idle HTTP connections use all file descriptors${missing ? ` (${missing})` : ''}`,
  async () => {
    const dns = { host: LOOPBACK, port: await freePort() };
    const floodgate = await started({
      upstream: [NO_NODE],
      dns: { account: 'a', listen: [`0.0.0.0:${dns.port}`], servers: [await zoneServer()] },
    });
    limitDescriptors(floodgate, 256);
    const clients = idleConnections(Number(new URL(floodgate.url).port), 400);
    const client = await openUdpClient();
    await until('the warning of the guard', async () => {
      expect(await client.ask(KNOWN, dns)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
      return floodgate.output().includes(UNREAD);
    });
    for (const idle of clients) idle.destroy();
    await answersEverywhere({ urls: [floodgate.url], dns });
    expect(floodgate.output().split(UNREAD)).toHaveLength(2);
    expect(await floodgate.stop()).toBe(0);
  },
);

it.skipIf(missing)(
  `a worker that ends during the exhaustion of file descriptors is restarted afterwards${missing ? ` (${missing})` : ''}`,
  async () => {
    const floodgate = await started({ upstream: [NO_NODE], workers: 2 });
    const { pid } = floodgate.process;
    const workers = (): string[] =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    expect(workers()).toHaveLength(2);
    const limit = openDescriptors(floodgate);
    limitDescriptors(floodgate, 16);
    process.kill(Number(workers()[0]), 'SIGKILL');
    await until('the failed start', () => floodgate.output().includes('worker could not start'));
    limitDescriptors(floodgate, 4 * limit);
    await until('two workers', () => workers().length === 2);
    await answersEverywhere({ urls: [floodgate.url] });
    expect(await floodgate.stop()).toBe(0);
  },
);
