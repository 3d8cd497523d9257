import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { anyLimits } from '../../../test/support/anyLimits.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../test/support/certificate.ts';
import { HANG_MS } from '../../../test/support/hang.ts';
import { until } from '../../../test/support/until.ts';
import { Scheduler } from '../scheduler/index.ts';
import { openListener } from './openListener.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-listener-'));
const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
if (hasOpenssl) makeCertificate(tls);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const REQUEST = 'GET /slow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';

describe.each([
  ['without TLS', true],
  [`with TLS${withOpenssl}`, hasOpenssl],
])('a listener %s that stops', (name, isPossible) => {
  const isSecure = name !== 'without TLS';
  const closing: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Starts a listener. `arrived` resolves when it receives a request; `answer` lets it answer all requests. */
  async function serve() {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let hasArrived = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      hasArrived = resolve;
    });
    const listener = await openListener(
      { at: { host: '127.0.0.1', port: 0 }, ...(isSecure && { tls }) },
      {
        routes: async (server) => {
          server.get('/slow', async () => {
            hasArrived();
            await answered;
            return 'served';
          });
        },
        paths: [],
        errorBody: () => '',
      },
      { logger: pino({ level: 'silent' }), ...anyLimits() },
    );
    closing.push(() => listener.stop(performance.now()));
    const to = { port: Number(new URL(listener.url).port), host: '127.0.0.1' };
    const open = async (): Promise<Socket> => {
      const socket = isSecure ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to);
      closing.push(() => socket.destroy());
      await once(socket, isSecure ? 'secureConnect' : 'connect');
      return socket;
    };
    /** Opens a connection that sends nothing, so with TLS its handshake does not end. */
    const openSilent = async (): Promise<Socket> => {
      const socket = connect(to);
      closing.push(() => socket.destroy());
      await once(socket, 'connect');
      return socket;
    };
    return { listener, open, openSilent, answer, arrived };
  }

  it.skipIf(!isPossible)('answers running requests, and closes connections without', async () => {
    const { listener, open, openSilent, answer, arrived } = await serve();
    const [running, idle, incomplete] = [await open(), await open(), await open()];
    const silent = await openSilent();
    incomplete.write(REQUEST.slice(0, 10));
    running.write(REQUEST);
    await arrived;
    const stopped = listener.stop(performance.now() + HANG_MS);
    expect(await Promise.all([idle, incomplete, silent].map(text))).toEqual(['', '', '']);
    answer();
    expect(await text(running)).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\nserved$/);
    await stopped;
  });

  it.skipIf(!isPossible)('closes all connections at the deadline', async () => {
    const { listener, open, arrived } = await serve();
    const [running, idle] = [await open(), await open()];
    running.write(REQUEST);
    await arrived;
    await listener.stop(performance.now());
    expect(await Promise.all([running, idle].map(text))).toEqual(['', '']);
  });
});

it('counts the time of a request whose body arrived later than its headers', async () => {
  const scheduler = new Scheduler();
  const runs = vi.spyOn(scheduler, 'run');
  const listener = await openListener(
    { at: { host: '127.0.0.1', port: 0 } },
    {
      routes: async (server) => {
        server.post('/change', async () => ({ runs: runs.mock.calls.length }));
      },
      paths: [],
      errorBody: () => '',
    },
    { logger: pino({ level: 'silent' }), ...anyLimits(), scheduler },
  );
  const socket = connect({ port: Number(new URL(listener.url).port), host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(
    'POST /change HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n',
  );
  await until('the headers were read', () => runs.mock.calls.length === 1);
  socket.end('{}');
  expect(await text(socket)).toContain('{"runs":2}');
  expect(runs.mock.calls.map(([client]) => client)).toEqual([
    { address: '127.0.0.1' },
    { address: '127.0.0.1' },
  ]);
  await listener.stop(performance.now());
});
