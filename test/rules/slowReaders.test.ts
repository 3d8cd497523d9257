import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { idleReader, rawRequest } from '../support/idleReader.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** As many as one connection may send ahead. */
const REQUESTS = 100;
/** What the system takes of a connection is some megabytes: so many connections are more than it and the bound take. */
const READERS = 10;

describe('clients of the rules API that do not read', () => {
  let floodgate: Floodgate;
  let document: string;
  const open: Socket[] = [];

  beforeAll(async () => {
    floodgate = await startFloodgate({ args: ['--http-max-unsent-bytes-per-address', String(1024 * 1024)] });
    document = `${floodgate.url}/client/v4/openapi.json`;
  });
  afterAll(() => floodgate?.stop());
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  it('are refused further answers with 429, and nobody else is', async () => {
    for (let i = 0; i < READERS; i++) {
      const socket = await idleReader(floodgate.url, { localAddress: '127.0.0.2' });
      open.push(socket);
      socket.write(rawRequest(document).repeat(REQUESTS));
    }
    const refused = await until('they are refused', async () => {
      const socket = await idleReader(floodgate.url, { localAddress: '127.0.0.2' });
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
    expect(head.toLowerCase()).toContain('\r\nretry-after: 1\r\n');
    expect(JSON.parse(body)).toMatchObject({ success: false, result: null, errors: [{ code: 10429 }] });
    expect((await fetch(document)).status).toBe(200);
    const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
    const unsent = Number(/^floodgate_http_unsent_bytes (\d+)$/m.exec(metrics)?.[1]);
    expect(unsent).toBeGreaterThan(1024 * 1024);
    expect(unsent).toBeLessThan(96 * 1024 * 1024);
  });
});
