import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { anyLimits } from '../../../test/support/anyLimits.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../test/support/certificate.ts';
import { proxyMatcher } from '../addresses/index.ts';
import { Handshakes } from './handshakes.ts';
import { openListener } from './openListener.ts';

const MAX_PER_SECOND = 20;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-handshakes-'));
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
if (hasOpenssl) makeCertificate({ cert, key });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!hasOpenssl)(`TLS handshakes${withOpenssl}`, () => {
  const closing: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function serve(trustedProxies: readonly string[]) {
    const metrics = new Registry();
    const handshakes = new Handshakes({ isTrustedProxy: proxyMatcher(trustedProxies), metrics });
    const listener = await openListener(
      { at: { host: '127.0.0.1', port: 0 }, tls: { cert, key } },
      {
        routes: async (server) => void server.get('/', async () => 'served'),
        paths: [],
        errorBody: () => '',
      },
      { logger: pino({ level: 'silent' }), ...anyLimits(), handshakes },
    );
    closing.push(() => listener.stop(performance.now()));
    const port = Number(new URL(listener.url).port);
    return {
      /** Opens a connection. Returns whether its handshake succeeded. */
      async open(localAddress: string): Promise<boolean> {
        // node's types of `connect` lack localAddress.
        const options = { port, host: '127.0.0.1', localAddress, rejectUnauthorized: false };
        const socket: TLSSocket = connect(options);
        closing.push(() => socket.destroy());
        return once(socket, 'secureConnect').then(
          () => true,
          () => false,
        );
      },
      async rejected(): Promise<number | undefined> {
        const { values } =
          (await metrics.getSingleMetric('floodgate_http_handshakes_rejected_total')?.get()) ?? {};
        return values?.[0]?.value;
      },
    };
  }

  it('of one address above 20 per second are rejected, and other addresses are served', async () => {
    const { open, rejected } = await serve([]);
    const attempts = 10 * MAX_PER_SECOND;
    const opened = await Promise.all(Array.from({ length: attempts }, () => open('127.0.0.1')));
    expect(await open('127.0.0.2')).toBe(true);
    const count = opened.filter((isOpen) => isOpen).length;
    // On a slow machine, the handshakes take several seconds.
    expect(count).toBeGreaterThanOrEqual(MAX_PER_SECOND);
    expect(await rejected()).toBe(attempts - count);
  });

  it('of a trusted proxy are not limited', async () => {
    const { open, rejected } = await serve(['127.0.0.0/8']);
    const opened = await Promise.all(Array.from({ length: 2 * MAX_PER_SECOND }, () => open('127.0.0.1')));
    expect(new Set(opened)).toEqual(new Set([true]));
    expect(await rejected()).toBe(0);
  });
});
