import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openIdleConnection, rawRequest } from '../support/idleReader.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** Maximum unsent bytes of the server. One client address may use half of it. */
const MAX_UNSENT_BYTES = 2 * 1024 * 1024;
/** Maximum number of pipelined requests of a connection. */
const REQUESTS = 100;
/**
 * Number of connections whose responses exceed both the socket buffers of the kernel (some megabytes each) and the
 * limit.
 */
const READERS = 10;

describe('clients of the rules API that do not read', () => {
  let floodgate: Floodgate;
  let document: string;
  const open: Socket[] = [];

  beforeAll(async () => {
    floodgate = await startFloodgate({ args: ['--http-max-unsent-bytes', String(MAX_UNSENT_BYTES)] });
    document = `${floodgate.url}/client/v4/openapi.json`;
  });
  afterAll(() => floodgate?.stop());
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  it('receive 429 for further requests, while other clients are served', async () => {
    for (let i = 0; i < READERS; i++) {
      const socket = await openIdleConnection(floodgate.url, { localAddress: '127.0.0.2' });
      open.push(socket);
      socket.write(rawRequest(document).repeat(REQUESTS));
    }
    const refused = await until('a 429 for the slow readers', async () => {
      const socket = await openIdleConnection(floodgate.url, { localAddress: '127.0.0.2' });
      open.push(socket);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(rawRequest(document, undefined, ['connection: close']));
      await closed;
      return text.startsWith('HTTP/1.1 429 ') && text;
    });
    const [head = '', body = ''] = refused.split('\r\n\r\n');
    expect(head.toLowerCase()).toContain('\r\nretry-after: 01\r\n');
    expect(JSON.parse(body)).toMatchObject({ success: false, result: null, errors: [{ code: 10429 }] });
    expect((await fetch(document)).status).toBe(200);
    const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
    const unsent = Number(/^floodgate_http_unsent_bytes (\d+)$/m.exec(metrics)?.[1]);
    expect(unsent).toBeLessThanOrEqual(MAX_UNSENT_BYTES);
  });
});
