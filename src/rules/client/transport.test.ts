import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Transport, type Wait } from './transport.ts';

const NO_PAUSE = { 'retry-after': '0' };
let close = (): void => {};
afterEach(() => close());

/** Starts a server that responds with the statuses in turn. Returns its base URL. */
async function serverOf(statuses: readonly number[], headers: Record<string, string>): Promise<string> {
  const left = [...statuses];
  const server = createServer((_, response) => response.writeHead(left.shift() ?? 418, headers).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('Transport', () => {
  it.each([429, 502, 503, 504])('sends a request again after HTTP %i', async (status) => {
    const transport = new Transport({ baseUrl: await serverOf([status, 200], NO_PAUSE), token: 't' });
    expect((await transport.send('GET', '/')).envelope).toEqual({});
  });

  it.each([400, 404, 500, 501])('does not send a request again after HTTP %i', async (status) => {
    const transport = new Transport({ baseUrl: await serverOf([status, 200], NO_PAUSE), token: 't' });
    await expect(transport.send('GET', '/')).rejects.toMatchObject({ status });
  });

  it('names the reason in one line if the server has no TLS', async () => {
    const baseUrl = (await serverOf([], {})).replace('http', 'https');
    const message = `${baseUrl} does not respond: TLS: wrong version number. Check the URL, and that the server runs`;
    await expect(new Transport({ baseUrl, token: 't' }).send('GET', '/')).rejects.toThrow(message);
  });

  it('reports a pause of one second that the server requests, and not a shorter one', async () => {
    const waits: Wait[] = [];
    const stop = new AbortController();
    const onWait = (wait: Wait) => {
      waits.push(wait);
      stop.abort();
    };
    const options = { token: 't', onWait, signal: stop.signal };
    await new Transport({ ...options, baseUrl: await serverOf([503, 200], NO_PAUSE) }).send('GET', '/');
    close();
    expect(waits).toEqual([]);
    const baseUrl = await serverOf([503, 200], { 'retry-after': '1' });
    await expect(new Transport({ ...options, baseUrl }).send('GET', '/')).rejects.toThrow(/abort/);
    expect(waits).toEqual([{ seconds: 1, status: 503 }]);
  });
});
