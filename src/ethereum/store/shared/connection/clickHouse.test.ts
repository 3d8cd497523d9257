import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type ClickHouseAddress, parseAddresses } from './address.ts';
import { ClickHouse } from './clickHouse.ts';
import { TraceStoreUnavailable, WrongTables } from './failures.ts';

/** Returns the client of a host that answers each request with `listener`. */
async function clientOf(listener: RequestListener): Promise<ClickHouse> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const [address] = parseAddresses(`clickhouse://user@127.0.0.1:${port}/floodgate`);
  const client = new ClickHouse(address as ClickHouseAddress); // the URL has one host
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

it('an endless error response is not read whole', async () => {
  let closed = 0;
  const client = await clientOf((_request, response) => {
    response.writeHead(500);
    response.on('close', () => closed++);
    const send = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', send);
    send();
  });
  await expect(client.command('SELECT 1')).rejects.toThrow('ClickHouse: HTTP status 500');
  await expect.poll(() => closed).toBe(1);
});

it('the code of an error is found, whatever the length of its message', async () => {
  const client = await clientOf((_request, response) => {
    response.writeHead(404, { 'x-clickhouse-exception-code': '60' });
    response.end(`Code: 60. DB::Exception: ${'x'.repeat(10_000)}. (UNKNOWN_TABLE)`);
  });
  await expect(client.command('SELECT 1')).rejects.toThrow(WrongTables);
});

it('an error of a proxy is reported by its status', async () => {
  const client = await clientOf((_request, response) => {
    response.writeHead(502).end('<html>Bad Gateway</html>');
  });
  const error = await client.command('SELECT 1').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TraceStoreUnavailable);
  expect(error).toHaveProperty('message', 'ClickHouse: HTTP status 502');
});
