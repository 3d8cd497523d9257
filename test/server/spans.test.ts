import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, send } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { type HttpServer, startHttpServer } from '../support/httpServer.ts';
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../support/otlpCollector.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CLIENT = '00f067aa0ba902b7';
const [INTERNAL, SERVER, TO_NODE] = [1, 2, 3];
const ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
/** Data from a client that must not reach the collector. */
const WORDS = { address: ADDRESS.slice(2), agent: 'wordsofaclient', account: 'accountofsomebody' };

interface NodeRequest {
  readonly methods: string;
  readonly headers: IncomingHttpHeaders;
}

let chain: SharedChain;
/** A proxy in front of a real node that records requests. */
let node: HttpServer;
const asked: NodeRequest[] = [];
let collector: OtlpCollector;
let floodgate: Floodgate;
beforeAll(async () => {
  chain = await startSharedChain();
  node = await startHttpServer(async (body, { headers }, response) => {
    asked.push({
      methods: [JSON.parse(body)]
        .flat()
        .map(({ method }) => method)
        .join(' '),
      headers,
    });
    const answer = await fetch(chain.anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  collector = await startOtlpCollector();
  floodgate = await startFloodgate({
    upstream: node.url,
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=of%20the%20collector',
    },
    tuning: { spanIntervalMs: 100 },
  });
});
afterAll(async () => {
  await floodgate?.stop();
  await collector?.stop();
  await node?.stop();
  await chain?.anvil.stop();
});

const traceparent = (traceId: string, flags = '01'): string => `00-${traceId}-${CLIENT}-${flags}`;
/** Waits for at least `count` spans of a trace, and returns them. */
const spansOf = (traceId: string, count: number): Promise<CollectedSpan[]> =>
  until(`${count} spans of ${traceId}`, () => {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    return spans.length >= count && spans;
  });
const named = (spans: readonly CollectedSpan[], kind: number): CollectedSpan => {
  const span = spans.find((each) => each.kind === kind);
  if (span === undefined) throw new Error(`there is no span of kind ${kind}`);
  return span;
};
const post = (body: unknown, headers = {}) => send(floodgate.gatewayUrl, { headers, body });
const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });

describe('an OpenTelemetry trace', () => {
  it('continues from the client through the gateway to the node', async () => {
    const headers = { traceparent: traceparent(TRACE), 'user-agent': WORDS.agent };
    await post(request('eth_getBalance', ADDRESS, 'latest'), headers);
    const spans = await spansOf(TRACE, 3);
    const [http, rpc, toNode] = [SERVER, INTERNAL, TO_NODE].map((kind) => named(spans, kind ?? 0));
    expect(http).toMatchObject({
      name: 'POST /v1/{network}',
      parentSpanId: CLIENT,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/{network}',
        'http.response.status_code': 200,
        'floodgate.network': 'mainnet',
      },
    });
    expect(rpc).toMatchObject({
      name: 'eth_getBalance',
      parentSpanId: http?.spanId,
      attributes: { 'floodgate.cache': 'miss' },
    });
    expect(toNode).toMatchObject({
      name: 'eth_getBalance',
      parentSpanId: rpc?.spanId,
      attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': 'eth_getBalance', 'floodgate.node': 'node-1' },
    });
    const sent = asked.find(({ methods }) => methods === 'eth_getBalance');
    expect(sent?.headers['traceparent']).toBe(`00-${TRACE}-${toNode?.spanId}-01`);
    expect(collector.headers['x-key']).toBe('of the collector');
    expect(collector.bodies.at(-1)).toContain('{"key":"service.name","value":{"stringValue":"floodgate"}}');
  });

  it('of a call that the index answers has no span of a node', async () => {
    const traceId = TRACE.replace('4b', '11');
    await post(request('trace_filter', { fromBlock: 1, toBlock: 4 }), { traceparent: traceparent(traceId) });
    const spans = await spansOf(traceId, 2);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['POST /v1/{network}', 'trace_filter']);
  });

  it('of a batch has a span for each call, and an invalid call is not marked as an error', async () => {
    const traceId = TRACE.replace('4b', '22');
    await post([request('eth_chainId'), request('trace_filter', { fromBlock: 'x' })], {
      traceparent: traceparent(traceId),
    });
    const spans = await spansOf(traceId, 3);
    const refused = spans.find(({ name }) => name === 'trace_filter');
    expect(refused).toMatchObject({ isError: false, attributes: { 'rpc.jsonrpc.error_code': -32602 } });
  });

  it('of an ingested block has a span of the request to the node', async () => {
    const ingested = await until('a span of an ingested block', () =>
      // The genesis block has no traces, so they are not requested.
      collector.spans.find(
        ({ name, attributes }) => name === 'ingest block' && Number(attributes['floodgate.block']) > 0,
      ),
    );
    expect(ingested.attributes).toMatchObject({ 'floodgate.network': 'mainnet' });
    const spans = await spansOf(ingested.traceId, 2);
    const toNode = spans.find(({ kind }) => kind === TO_NODE);
    expect(toNode).toMatchObject({ parentSpanId: ingested.spanId, name: 'eth_getBlockByNumber trace_block' });
    const sent = asked.find(({ headers }) => headers['traceparent']?.includes(ingested.traceId));
    expect(sent?.methods).toBe('eth_getBlockByNumber trace_block');
    expect(sent?.headers['traceparent']).toBe(`00-${ingested.traceId}-${toNode?.spanId}-01`);
  });

  it('of a write to the index has the first block and the number of blocks', async () => {
    const written = await until('a span of written blocks', () =>
      collector.spans.find(
        ({ name, attributes }) => name === 'write blocks' && Number(attributes['floodgate.blocks']) > 0,
      ),
    );
    const { attributes } = written;
    expect(attributes).toMatchObject({ 'floodgate.network': 'mainnet' });
    const ingested = collector.spans.filter(({ name }) => name === 'ingest block');
    const first = Number(attributes['floodgate.block']);
    expect(ingested.map((span) => Number(span.attributes['floodgate.block']))).toContain(first);
    expect(written.isError).toBe(false);
  });

  it('of a request to the rules API has its route, without the account id', async () => {
    const traceId = TRACE.replace('4b', '33');
    const path = `/client/v4/accounts/${WORDS.account}/network/advanced_dns_protection/configs/dns_protection/rules`;
    const headers = { traceparent: traceparent(traceId), authorization: `Bearer ${floodgate.token}` };
    await send(`${floodgate.url}${path}?page=1`, { method: 'GET', headers });
    const [span] = await spansOf(traceId, 1);
    expect(span?.attributes).toMatchObject({
      'http.route': path.replace(WORDS.account, ':account_id'),
      'http.response.status_code': 200,
    });
    expect(span).toMatchObject({ kind: SERVER, parentSpanId: CLIENT, isError: false });
  });

  it('of a WebSocket message begins with that message', async () => {
    const socket = await openWebSocket(floodgate.gatewayUrl);
    await socket.call('eth_gasPrice');
    const message = await until('a span of a WebSocket message', () =>
      collector.spans.find(({ name }) => name === 'WebSocket message'),
    );
    const spans = await spansOf(message.traceId, 3);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'WebSocket message',
      'eth_gasPrice',
      'eth_gasPrice',
    ]);
    socket.close();
  });

  it('begins at the gateway if the traceparent header is invalid', async () => {
    const before = asked.length;
    await post(request('eth_getCode', ADDRESS, 'latest'), { traceparent: traceparent(TRACE.toUpperCase()) });
    const sent = asked.slice(before).find(({ methods }) => methods === 'eth_getCode');
    expect(sent?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(sent?.headers['traceparent']).not.toContain(TRACE);
  });

  it('contains no data from clients, and is valid OTLP', async () => {
    const traceId = TRACE.replace('4b', '44');
    await send(`${floodgate.url}/v1/${WORDS.account}?${WORDS.agent}`, {
      method: 'GET',
      headers: {
        traceparent: traceparent(traceId),
        'user-agent': WORDS.agent,
        tracestate: `a=${WORDS.agent}`,
      },
    });
    await send(floodgate.gatewayUrl, {
      headers: { traceparent: traceparent(traceId) },
      body: request(WORDS.agent, WORDS.account),
    });
    await spansOf(traceId, 2);
    expect(collector.faults).toEqual([]);
    for (const word of Object.values(WORDS)) expect(collector.bodies.join()).not.toContain(word);
    for (const { headers } of asked) expect(JSON.stringify(headers)).not.toContain(WORDS.agent);
  });
});

describe('a server that samples nothing', () => {
  it('sends nodes no traceparent without spans, and flags 00 with ratio 0', async () => {
    const [off, none] = await Promise.all([
      startFloodgate({ upstream: node.url }),
      startFloodgate({
        upstream: node.url,
        args: ['--spans-endpoint', 'http://127.0.0.1:9/v1/traces', '--spans-sampler-arg', '0'],
      }),
    ]);
    const traceparentOf = async ({ gatewayUrl }: Floodgate, block: number): Promise<unknown> => {
      const before = asked.length;
      const headers = { traceparent: traceparent(TRACE) };
      await send(gatewayUrl, { headers, body: request('eth_getStorageAt', ADDRESS, '0x0', `0x${block}`) });
      return asked.slice(before).find(({ methods }) => methods === 'eth_getStorageAt')?.headers[
        'traceparent'
      ];
    };
    expect(await traceparentOf(off, 1)).toBeUndefined();
    expect(await traceparentOf(none, 2)).toBe(traceparent(TRACE, '00'));
    // This server responds although its collector is unreachable.
    expect((await call(none.gatewayUrl, 'eth_chainId')).status).toBe(200);
    await Promise.all([off.stop(), none.stop()]);
  });
});
