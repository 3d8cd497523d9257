import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NodeClient } from './nodeClient.ts';
import { HttpStatusError } from './nodeError.ts';

/** A node that returns the HTTP status in the body of a request. */
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  response.writeHead(Number(body), { location: '/' }).end('{}');
});
let client: NodeClient;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new NodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
});
afterAll(async () => {
  await client.close();
  server.close();
});

const outcomeOf = (status: number) => {
  const options = { timeoutMs: 60_000, maxBytes: 1_000, mayStream: false, reservation: undefined };
  return client.relay(String(status), options).body.then(
    () => 'read',
    (error: unknown) => (error instanceof HttpStatusError ? 'rejected' : error),
  );
};

it('a redirect, a missing login, a missing path and an error of the server are no response of a node', async () => {
  const statuses = [200, 301, 302, 399, 400, 401, 403, 404, 500, 502, 503];
  const outcomes = await Promise.all(statuses.map(outcomeOf));
  expect(statuses.filter((_, i) => outcomes[i] === 'read')).toEqual([200, 400, 403]);
  expect(new Set(outcomes)).toEqual(new Set(['read', 'rejected']));
});
