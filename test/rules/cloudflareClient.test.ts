import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Cloudflare from 'cloudflare';
import { V4PagePaginationArray } from 'cloudflare/core/pagination';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage, snippetsOf } from '../docs/support/pages.ts';
import { run } from '../server/support/run.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly mode: string;
}
interface Envelope<Result> {
  readonly result: Result;
  readonly success: boolean;
}

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const client = (apiToken: string = TOKEN, baseURL = server.baseUrl) =>
  new Cloudflare({ apiToken, baseURL, maxRetries: 2 });
const rules = (account: string) => rulesPath(account, 'magic');
const create = (account: string, fields: object = {}) =>
  client().post<Envelope<Rule>>(rules(account), { body: { ...newRule, ...fields } });

async function collect(account: string, query: Record<string, unknown> = {}): Promise<Rule[]> {
  const found: Rule[] = [];
  const pages = client().getAPIList<Rule, V4PagePaginationArray<Rule>>(
    rules(account),
    V4PagePaginationArray<Rule>,
    { query },
  );
  for await (const rule of pages) found.push(rule);
  return found;
}

describe("Cloudflare's official client", () => {
  it('creates, reads, changes and deletes a rule', async () => {
    const { result: created, success } = await create('client-1');
    expect(success).toBe(true);
    const path = `${rules('client-1')}/${created.id}`;
    expect((await client().get<Envelope<Rule>>(path)).result).toEqual(created);
    const changed = await client().patch<Envelope<Rule>>(path, { body: { mode: 'monitoring' } });
    expect(changed.result.mode).toBe('monitoring');
    expect(await client().delete(path)).toEqual({ success: true, errors: [], messages: [] });
    await expect(client().get(path)).rejects.toBeInstanceOf(Cloudflare.NotFoundError);
    await create('client-1');
    await client().delete(rules('client-1'));
    expect(await collect('client-1')).toEqual([]);
  });

  it.each([
    ['without paging', {}],
    ['in pages of 3', { per_page: 3 }],
    ['in pages that divide evenly', { per_page: 5 }],
    ['in pages of 1, backwards', { per_page: 1, direction: 'DESC' }],
  ])('lists all rules %s, each once', async (_, query) => {
    const account = `client-list-${Object.keys(query).join('-')}-${String(Object.values(query)[0])}`;
    const ids: string[] = [];
    for (let index = 0; index < 10; index++)
      ids.push((await create(account, { scope: 'region', name: `r${index}` })).result.id);
    const walked = (await collect(account, query)).map((rule) => rule.id);
    expect(walked).toEqual('direction' in query ? ids.toReversed() : ids);
  });

  it('throws its class for every status, with the error code of the server', async () => {
    const missing = `${rules('client-2')}/3fa85f64-5717-4562-b3fc-2c963f66afa6`;
    const { result } = await create('client-2');
    const single = `${rules('client-2')}/${result.id}`;
    const ifMatch = { 'if-match': '"stale"' };
    const key = { 'idempotency-key': 'client-key' };
    await client().post(rules('client-2'), { body: newRule, headers: key });
    const other = { ...newRule, mode: 'disabled' };
    // Sent one after the other: a rejection that is not awaited yet would count as unhandled.
    const cases: [() => Promise<unknown>, new (...parameters: never[]) => Error, number, number][] = [
      [() => client().post(rules('a'), { body: {} }), Cloudflare.BadRequestError, 400, 10001],
      [() => client('wrong').get(rules('a')), Cloudflare.AuthenticationError, 401, 10000],
      [() => client().get(missing), Cloudflare.NotFoundError, 404, 7003],
      [() => client().get('/zones'), Cloudflare.NotFoundError, 404, 7000],
      [() => client().put(rules('a'), { body: {} }), Cloudflare.APIError, 405, 10405],
      [
        () => client().patch(single, { body: { mode: 'disabled' }, headers: ifMatch }),
        Cloudflare.APIError,
        412,
        10412,
      ],
      [
        () => client().post(rules('a'), { body: { name: 'x'.repeat(70_000) } }),
        Cloudflare.APIError,
        413,
        10413,
      ],
      [
        () => client().post(rules('client-2'), { body: other, headers: key }),
        Cloudflare.UnprocessableEntityError,
        422,
        10422,
      ],
    ];
    for (const [send, expectedClass, status, code] of cases) {
      const error = await send().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(expectedClass);
      const { status: got, errors } = error as InstanceType<typeof Cloudflare.APIError>;
      expect([got, errors[0]?.code]).toEqual([status, code]);
    }
  });

  it('throws ConflictError for the 1,001st rule', async () => {
    const patient = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 1 });
    const one = () => patient.post(rules('client-full'), { body: newRule });
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 50 }, one));
    await expect(one()).rejects.toMatchObject({ status: 409, errors: [{ code: 10409 }] });
    await expect(one()).rejects.toBeInstanceOf(Cloudflare.ConflictError);
    expect(await collect('client-full', { per_page: 300 })).toHaveLength(1000);
  });

  it('runs the program of docs/reference/rules-api.md', async () => {
    const snippet = snippetsOf(readPage('reference/rules-api.md')).find(({ language }) => language === 'js');
    const program = snippet?.code.replace('http://127.0.0.1:8420/client/v4', server.baseUrl) ?? '';
    const args = ['--input-type=module', '--eval', program];
    const { stdout, stderr } = await run(process.execPath, args, { env: { FLOODGATE_TOKEN: TOKEN } });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^[0-9a-f-]{36} datacenter lax enabled\n$/);
    expect(await collect('dev')).toEqual([]);
  });

  it('verifies its token', async () => {
    expect(await client().user.tokens.verify()).toMatchObject({ status: 'active' });
    await expect(client('wrong').user.tokens.verify()).rejects.toBeInstanceOf(Cloudflare.AuthenticationError);
  });

  it('creates one rule by its retries if the first responses are lost or 503', async () => {
    // Simulates an unreliable network: loses the response of the first request, rejects the second, forwards the
    // others.
    const { server: flaky, seen } = await flakyFront(server.baseUrl);
    const { port } = flaky.address() as AddressInfo;
    const through = client(TOKEN, `http://127.0.0.1:${port}/client/v4`);
    const body = newRule;
    const headers = { 'idempotency-key': 'retried' };
    const { result } = await through.post<Envelope<Rule>>(rules('client-retry'), { body, headers });
    expect(seen()).toBe(3);
    // The first attempt reached the server, so the idempotency key prevented a second rule.
    expect((await collect('client-retry')).map((rule) => rule.id)).toEqual([result.id]);
    flaky.closeAllConnections();
    await new Promise((resolve) => flaky.close(resolve));
  });
});

async function flakyFront(target: string): Promise<{ server: Server; seen: () => number }> {
  let requests = 0;
  const front = createServer(async (request, response) => {
    const attempt = ++requests;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const forward = () =>
      fetch(new URL(request.url ?? '', target), {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
      });
    if (attempt === 1) {
      await forward();
      return void request.socket.destroy();
    }
    if (attempt === 2) return void response.writeHead(503, { 'retry-after': '0' }).end();
    const answer = await forward();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return { server: front, seen: () => requests };
}
