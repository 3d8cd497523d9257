import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { call } from './support/send.ts';

interface Got {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any;
}

const READERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

/** Sends a POST with the body, or a GET if there is none, and returns the decoded response. */
function fetched(url: string, accepts: string, body?: string | Buffer): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = {
      'accept-encoding': accepts,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(Buffer.isBuffer(body) && { 'content-encoding': 'gzip' }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    const request = httpRequest(url, { method, agent: false, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const read = READERS[response.headers['content-encoding'] ?? ''];
        const text = (read === undefined ? bytes : read(bytes)).toString();
        resolve({ headers: response.headers, bytes, json: JSON.parse(text) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const bodyOf = (id: number, method: string, ...params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const BLOCK = ['eth_getBlockByNumber', '0x1', true] as const;

describe('response compression', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  /** Repeats a request until its response is compressed: a busy machine sends responses uncompressed. */
  const compressed = (coding: string, ask: () => Promise<Got>): Promise<Got> =>
    until(`a response compressed with ${coding}`, async () => {
      const got = await ask();
      return got.headers['content-encoding'] === coding && got;
    });

  it('does not change results from the index, from nodes, from the cache and of batches', async () => {
    const filter = ['trace_filter', { fromBlock: '0x1', toBlock: 'latest', count: 200 }] as const;
    for (const [method, ...params] of [filter, BLOCK])
      for (const coding of ['gzip', 'br']) {
        const { json } = await call(floodgate.gatewayUrl, method, ...params);
        const body = bodyOf(7, method, ...params);
        const got = await compressed(coding, () => fetched(floodgate.gatewayUrl, coding, body));
        expect(got.json).toEqual({ ...json, id: 7 });
        expect(got.headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'application/json' });
        expect(got.headers['content-length']).toBe(String(got.bytes.length));
      }
    const batch = `[${bodyOf(1, ...BLOCK)},${bodyOf(2, ...filter)}]`;
    const got = await compressed('gzip', () => fetched(floodgate.gatewayUrl, 'gzip', batch));
    expect(got.json.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    expect(got.json[0].result.number).toBe('0x1');
  });

  it('applies to responses to compressed requests', async () => {
    const body = gzipSync(bodyOf(3, ...BLOCK));
    const got = await compressed('gzip', () => fetched(floodgate.gatewayUrl, 'gzip', body));
    expect(got.json).toMatchObject({ id: 3, result: { number: '0x1' } });
  });

  it('reduces the OpenRPC document to less than a fifth of its size', async () => {
    const url = `${floodgate.gatewayUrl}/openrpc.json`;
    const plain = await fetched(url, 'identity');
    const got = await compressed('gzip', () => fetched(url, 'gzip'));
    expect(got.json).toEqual(plain.json);
    expect(got.bytes.length).toBeLessThan(plain.bytes.length / 5);
  });

  it('is counted in floodgate_gateway_compression_total', async () => {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    const count = (result: string): number =>
      Number(
        new RegExp(`^floodgate_gateway_compression_total{result="${result}"} (\\d+)$`, 'm').exec(text)?.[1],
      );
    expect(count('compressed')).toBeGreaterThan(0);
    expect(count('busy')).toBeGreaterThanOrEqual(0);
  });

  it('is off if gateway.compression is off, while compressed requests are still accepted', async () => {
    const off = await startFloodgate({
      upstream: chain.anvil.url,
      env: { FLOODGATE_GATEWAY_COMPRESSION: 'off' },
    });
    try {
      const got = await fetched(off.gatewayUrl, 'gzip, br', gzipSync(bodyOf(1, ...BLOCK)));
      expect(got.headers).not.toHaveProperty('content-encoding');
      expect(got.json.result.number).toBe('0x1');
    } finally {
      await off.stop();
    }
  });
});
