import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../test/support/httpServer.ts';
import { until } from '../../../test/support/until.ts';
import {
  createFloodgateClient,
  type FloodgateClientOptions,
  FloodgateHttpError,
  FloodgateRpcError,
} from './index.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const RESULT = '{"jsonrpc":"2.0","id":1,"result":[]}';
const ADDRESS = `0x${'ab'.repeat(20)}` as const;
const refusal = (code: number, data: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message: 'no', data } });

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Starts a server that sends these responses in order. Returns a client of it and the requests it received. */
async function clientOf(
  answers: readonly (Answer | 'none')[],
  options: Partial<FloodgateClientOptions> = {},
) {
  const asked: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  const server = await startHttpServer((body, { headers }, response) => {
    const answer = answers[asked.length];
    asked.push({ headers, body: JSON.parse(body) });
    if (answer === undefined || answer === 'none') return;
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  servers.push(server);
  return { asked, client: createFloodgateClient({ url: server.url, ...options }) };
}

const busy = (status: number, headers: Record<string, string>): Answer => ({
  status,
  headers,
  body: refusal(-32005, { limit: 1 }),
});

describe('a call', () => {
  it('sends JSON-RPC with the key in a header and bigints as hex', async () => {
    const { asked, client } = await clientOf([{ body: RESULT }], { key: 'fg_key' });
    expect(await client.traceFilter({ fromBlock: 10n, count: 1, fromAddress: [ADDRESS] })).toEqual([]);
    expect(asked[0]?.headers).toMatchObject({
      authorization: 'Bearer fg_key',
      'content-type': 'application/json',
    });
    expect(asked[0]?.body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'trace_filter',
      params: [{ fromBlock: '0xa', count: 1, fromAddress: [ADDRESS] }],
    });
  });

  it('rejects with the code, message and data of an error response', async () => {
    const { client } = await clientOf([{ body: refusal(-32005, { limit: 800, requested: 801 }) }]);
    const error = await client.traceFilter().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FloodgateRpcError);
    expect(error).toMatchObject({ code: -32005, message: 'no', data: { limit: 800, requested: 801 } });
  });

  it.each([
    { is: 'an HTML page of a proxy', status: 502, body: '<html>' },
    { is: 'JSON of another service', status: 200, body: '{"ok":true}' },
    { is: 'null', status: 200, body: 'null' },
    { is: 'empty', status: 204, body: '' },
    { is: 'an error without a code', status: 200, body: '{"error":"no"}' },
  ])('rejects with the HTTP status if the response is $is', async ({ status, body }) => {
    const { client } = await clientOf([{ status, body }]);
    const error = await client.traceFilter().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FloodgateHttpError);
    expect(error).toMatchObject({ status });
  });

  it('rejects if no response arrives within timeoutMs', async () => {
    const { client } = await clientOf(['none'], { timeoutMs: 50 });
    await expect(client.traceFilter()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('rejects when its signal is aborted', async () => {
    const { client, asked } = await clientOf(['none']);
    const controller = new AbortController();
    const call = client.traceFilter({}, { signal: controller.signal });
    call.catch(() => undefined); // its rejection is asserted below
    await until('the server receives the request', () => asked.length === 1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});

describe('a call with a retryable response', () => {
  it.each([429, 503])('with status %i is retried after the time in Retry-After', async (status) => {
    const { client, asked } = await clientOf([busy(status, { 'retry-after': '0' }), { body: RESULT }]);
    expect(await client.traceFilter()).toEqual([]);
    expect(asked).toHaveLength(2);
    const past = new Date(0).toUTCString();
    const dated = await clientOf([busy(status, { 'retry-after': past }), { body: RESULT }]);
    expect(await dated.client.traceFilter()).toEqual([]);
  });

  it('is retried at most maxRetries times, then rejects with the last response', async () => {
    const refused = busy(503, { 'retry-after': '0' });
    const { client, asked } = await clientOf(Array(9).fill(refused), { maxRetries: 2 });
    await expect(client.traceFilter()).rejects.toMatchObject({ code: -32005, data: { limit: 1 } });
    expect(asked).toHaveLength(3);
  });

  it.each(['31', '1e99', 'Infinity', 'soon', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'rejects at once if Retry-After is too long or invalid (%s)',
    async (said) => {
      const { client, asked } = await clientOf([busy(429, { 'retry-after': said }), { body: RESULT }]);
      await expect(client.traceFilter()).rejects.toMatchObject({ code: -32005 });
      expect(asked).toHaveLength(1);
    },
  );

  it('rejects while waiting for a retry when its signal is aborted', async () => {
    const { client, asked } = await clientOf([busy(429, { 'retry-after': '29' })]);
    const controller = new AbortController();
    const call = client.traceFilter({}, { signal: controller.signal });
    call.catch(() => undefined); // its rejection is asserted below
    await until('the server receives the request', () => asked.length === 1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(asked).toHaveLength(1);
  });
});

describe('addressTraces of the client', () => {
  const page = (cursor: string | null, traces: readonly unknown[] = []): Answer => ({
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: { traces, cursor, range: {}, missing: [] } }),
  });

  it('continues after short and empty pages until there is no cursor', async () => {
    const { client, asked } = await clientOf([page('a', [1]), page('b'), page(null, [2])]);
    const traces = [];
    for await (const each of client.addressTraces({ address: ADDRESS, minValue: 2n ** 70n }))
      traces.push(...each.traces);
    expect(traces).toEqual([1, 2]);
    const minValue = `0x${(2n ** 70n).toString(16)}`;
    expect(asked.map(({ body }) => (body as { params: unknown[] }).params)).toEqual([
      [{ address: ADDRESS, minValue }],
      [{ address: ADDRESS, minValue, cursor: 'a' }],
      [{ address: ADDRESS, minValue, cursor: 'b' }],
    ]);
  });

  it('requests each page only when the caller needs it', async () => {
    const { client, asked } = await clientOf([page('a'), page('b')]);
    for await (const { cursor } of client.addressTraces({ address: ADDRESS, cursor: 'begun' }))
      if (cursor === 'a') break;
    expect(asked.map(({ body }) => body)).toMatchObject([{ params: [{ cursor: 'begun' }] }]);
  });

  it('rejects if the block of a cursor was replaced', async () => {
    const replaced = { body: refusal(-32001, { reason: 'blockReplaced', blockNumber: 5 }) };
    const { client } = await clientOf([page('a'), replaced]);
    const pages = client.addressTraces({ address: ADDRESS });
    await pages.next();
    await expect(pages.next()).rejects.toMatchObject({ code: -32001, data: { reason: 'blockReplaced' } });
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });
});
