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

/** A client of a server that gives these answers, one after the other, and what that was asked. */
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
  it('is JSON-RPC with the key in its header, and bigints as hex', async () => {
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

  it('that is answered with an error rejects with its code, message and data', async () => {
    const { client } = await clientOf([{ body: refusal(-32005, { limit: 800, requested: 801 }) }]);
    const error = await client.traceFilter().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FloodgateRpcError);
    expect(error).toMatchObject({ code: -32005, message: 'no', data: { limit: 800, requested: 801 } });
  });

  it.each([
    { is: 'a page of a proxy', status: 502, body: '<html>' },
    { is: 'JSON of something else', status: 200, body: '{"ok":true}' },
    { is: 'null', status: 200, body: 'null' },
    { is: 'nothing', status: 204, body: '' },
    { is: 'an error without a code', status: 200, body: '{"error":"no"}' },
  ])('that is answered with $is says the status', async ({ status, body }) => {
    const { client } = await clientOf([{ status, body }]);
    const error = await client.traceFilter().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FloodgateHttpError);
    expect(error).toMatchObject({ status });
  });

  it('that has no answer in time fails', async () => {
    const { client } = await clientOf(['none'], { timeoutMs: 50 });
    await expect(client.traceFilter()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends with its signal', async () => {
    const { client, asked } = await clientOf(['none']);
    const controller = new AbortController();
    const call = client.traceFilter({}, { signal: controller.signal });
    call.catch(() => undefined); // it is looked at below
    await until('it is asked', () => asked.length === 1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});

describe('a call that is refused for now', () => {
  it.each([429, 503])('with status %i is made again after the time that the answer says', async (status) => {
    const { client, asked } = await clientOf([busy(status, { 'retry-after': '0' }), { body: RESULT }]);
    expect(await client.traceFilter()).toEqual([]);
    expect(asked).toHaveLength(2);
    const past = new Date(0).toUTCString();
    const dated = await clientOf([busy(status, { 'retry-after': past }), { body: RESULT }]);
    expect(await dated.client.traceFilter()).toEqual([]);
  });

  it('is made again so often and no more, and rejects with the last answer', async () => {
    const refused = busy(503, { 'retry-after': '0' });
    const { client, asked } = await clientOf(Array(9).fill(refused), { maxRetries: 2 });
    await expect(client.traceFilter()).rejects.toMatchObject({ code: -32005, data: { limit: 1 } });
    expect(asked).toHaveLength(3);
  });

  it.each(['31', '1e99', 'Infinity', 'soon', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'for longer than it waits, or unreadably (%s), rejects at once',
    async (said) => {
      const { client, asked } = await clientOf([busy(429, { 'retry-after': said }), { body: RESULT }]);
      await expect(client.traceFilter()).rejects.toMatchObject({ code: -32005 });
      expect(asked).toHaveLength(1);
    },
  );

  it('is not waited for any longer once its signal is aborted', async () => {
    const { client, asked } = await clientOf([busy(429, { 'retry-after': '29' })]);
    const controller = new AbortController();
    const call = client.traceFilter({}, { signal: controller.signal });
    call.catch(() => undefined); // it is looked at below
    await until('it is asked', () => asked.length === 1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(asked).toHaveLength(1);
  });
});

describe('pages', () => {
  const page = (cursor: string | null, traces: readonly unknown[] = []): Answer => ({
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: { traces, cursor, range: {}, missing: [] } }),
  });

  it('go on over short and empty ones until there is no cursor', async () => {
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

  it('are asked for one at a time, as they are wanted', async () => {
    const { client, asked } = await clientOf([page('a'), page('b')]);
    for await (const { cursor } of client.addressTraces({ address: ADDRESS, cursor: 'begun' }))
      if (cursor === 'a') break;
    expect(asked.map(({ body }) => body)).toMatchObject([{ params: [{ cursor: 'begun' }] }]);
  });

  it('end with an error where the block of a cursor was replaced', async () => {
    const replaced = { body: refusal(-32001, { reason: 'blockReplaced', blockNumber: 5 }) };
    const { client } = await clientOf([page('a'), replaced]);
    const pages = client.addressTraces({ address: ADDRESS });
    await pages.next();
    await expect(pages.next()).rejects.toMatchObject({ code: -32001, data: { reason: 'blockReplaced' } });
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });
});
