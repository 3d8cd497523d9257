import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.ts';
import { Readers, TrackedResponse } from '../../../../platform/http/index.ts';
import type { HttpAnswer, ResultSink } from '../../../jsonrpc/index.ts';
import { AnswerCompression } from './answerCompression.ts';

const readers = new Readers({
  maxBytes: 200_000_000,
  sendTimeoutMs: 30_000,
  clientAddress: ({ socket }) => String(socket.remoteAddress),
  metrics: new Registry(),
  log: { warn: () => undefined },
});
const options = { ServerResponse: TrackedResponse as unknown as typeof ServerResponse }; // node's types do not know TrackedResponse
const server = createServer(options, (request, response) =>
  answering(response as unknown as TrackedResponse, String(request.headers['accept-encoding'])),
);
readers.watch(server);
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP listener has an AddressInfo
});
afterAll(() => server.close());

let counts: ReturnType<typeof newCounts>;
function newCounts() {
  const counter = () => ({
    count: 0,
    inc() {
      this.count++;
    },
  });
  return { compressed: counter(), busy: counter() };
}
let hasSome: boolean;
let compression: AnswerCompression;
let answering: (response: TrackedResponse, accepts: string) => void;
beforeEach(() => {
  counts = newCounts();
  hasSome = true;
  compression = new AnswerCompression(counts, {
    get isAvailable() {
      return hasSome;
    },
  });
});
const counted = (): object => ({ compressed: counts.compressed.count, busy: counts.busy.count });

const respondWith = (answer: HttpAnswer): void => {
  answering = (response, accepts) => compression.respond(answer, { response, headers: [], accepts });
};
const single = (id: number, result: Uint8Array): HttpAnswer => ({
  status: 200,
  parts: [`{"jsonrpc":"2.0","id":${id},"result":`, result, '}'],
});
const textOf = (answer: HttpAnswer): string =>
  Buffer.concat(answer.parts.map((part) => Buffer.from(part as string))).toString();

const READERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: (zlib as unknown as { zstdDecompressSync: (bytes: Buffer) => Buffer }).zstdDecompressSync,
};

/** Requests the URL. Returns the received bytes and the decoded text. */
function get(accepts: string): Promise<{ headers: Record<string, unknown>; bytes: Buffer; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { agent: false, headers: { 'accept-encoding': accepts } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const { headers } = response;
          const read = READERS[headers['content-encoding'] ?? ''];
          resolve({ headers, bytes, text: (read === undefined ? bytes : read(bytes)).toString() });
        });
      },
    );
    request.on('error', reject);
    request.end();
  });
}

/** 300 logs (186 kB). Logs are the most frequently requested large results. */
const LOGS = Buffer.from(
  JSON.stringify(
    Array.from({ length: 300 }, (_, i) => ({
      address: `0x${'ab'.repeat(20)}`,
      topics: [`0x${'dd'.repeat(32)}`, `0x${'0'.repeat(24)}${randomBytes(4).toString('hex').repeat(5)}`],
      data: `0x${randomBytes(8).toString('hex').padStart(64, '0')}`,
      blockHash: `0x${'12'.repeat(32)}`,
      transactionHash: `0x${'34'.repeat(32)}`,
      logIndex: `0x${i.toString(16)}`,
      removed: false,
    })),
  ),
);

describe('a response', () => {
  it('is compressed with the coding that its client prefers', async () => {
    const answer = single(1, LOGS);
    respondWith(answer);
    for (const coding of ['gzip', 'br']) {
      const { headers, bytes, text } = await get(coding);
      expect(headers).toMatchObject({
        'content-encoding': coding,
        'content-length': String(bytes.length),
        'content-type': 'application/json',
        vary: 'accept-encoding',
      });
      expect(text).toBe(textOf(answer));
      expect(bytes.length).toBeLessThan(text.length / 5);
    }
    expect(counted()).toEqual({ compressed: 2, busy: 0 });
  });

  it('decompresses to its parts, for any parts and any coding', async () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.uint8Array(),
      fc.integer({ min: 500, max: 5_000 }).map((length) => 'ä1'.repeat(length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('gzip', 'br', 'zstd', '*', 'gzip;q=0.1, *;q=0', 'identity', 'nonsense'),
        async (parts, accepts) => {
          respondWith({ status: 200, parts });
          expect((await get(accepts)).text).toBe(textOf({ status: 200, parts }));
        },
      ),
      { numRuns: 25 },
    );
  });

  it.each([
    ['is small', 'gzip', Buffer.alloc(900, '1')],
    ['must not be compressed', 'gzip;q=0', LOGS],
    ['is requested with an unsupported coding', 'compress', LOGS],
  ])('that %s is sent uncompressed', async (_what, accepts, result) => {
    const answer = single(1, result);
    respondWith(answer);
    const { headers, bytes } = await get(accepts);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(bytes.toString()).toBe(textOf(answer));
    expect(counted()).toEqual({ compressed: 0, busy: 0 });
  });

  it('is sent uncompressed while no processor time is free', async () => {
    hasSome = false;
    const answer = single(1, LOGS);
    respondWith(answer);
    expect((await get('gzip')).bytes.toString()).toBe(textOf(answer));
    expect(counted()).toEqual({ compressed: 0, busy: 1 });
  });

  it('is sent uncompressed while two others are being compressed', async () => {
    const waiting: [TrackedResponse, string][] = [];
    answering = (...one) => waiting.push(one);
    const got = Array.from({ length: 10 }, () => get('br'));
    await until('all requests have arrived', () => waiting.length === 10);
    for (const [response, accepts] of waiting)
      compression.respond(single(1, LOGS), { response, headers: [], accepts });
    for (const { text } of await Promise.all(got)) expect(text).toBe(textOf(single(1, LOGS)));
    expect(counted()).toEqual({ compressed: 2, busy: 8 });
  });

  it('releases its pooled memory as soon as it is compressed', async () => {
    let released = 0;
    respondWith({ ...single(1, LOGS), release: () => released++ });
    await get('br');
    hasSome = false;
    await get('br');
    await until('both are released', () => released === 2);
  });
});

describe('the memory of a compressed response', () => {
  it('is charged for the compressed bytes only, until they are sent', async () => {
    const hex = Buffer.from(randomBytes(15_000_000).toString('hex'));
    answering = (response, accepts) => {
      expect(response.charge(hex.length)).toBe(true);
      compression.respond(single(1, hex), { response, headers: [], accepts });
    };
    const request = httpRequest(url, { agent: false, headers: { 'accept-encoding': 'br' } });
    request.on('error', () => undefined);
    request.end();
    const [response] = await once(request, 'response');
    const bytes = Number(response.headers['content-length']);
    // Hex digits compress to about half; the rest of the bytes may be in socket buffers of the kernel.
    expect(bytes).toBeLessThan(0.6 * hex.length);
    expect(readers.budget.total).toBeGreaterThan(0);
    expect(readers.budget.total).toBeLessThanOrEqual(bytes);
    request.destroy();
    await until('no bytes are charged', () => readers.budget.total === 0);
  });
});

describe('a stream', () => {
  /** Returns a stream of the pieces that ends normally or fails. */
  const streamOf = (pieces: readonly Buffer[], end: 'whole' | 'broken') => {
    let sink: ResultSink | undefined;
    let next = 0;
    const seen = { aborted: false };
    const more = (): void => {
      while (next < pieces.length) if (sink?.write(pieces[next++] ?? Buffer.alloc(0)) === false) return;
      if (next++ === pieces.length) end === 'whole' ? sink?.end() : sink?.fail(new Error('it broke off'));
    };
    const stream = {
      pipe(to: ResultSink) {
        sink = to;
        more();
      },
      resume: more,
      abort() {
        seen.aborted = true;
      },
    };
    return { answer: { status: 200, parts: ['{"result":', '}'], stream } as const, seen };
  };
  const pieces = Array.from({ length: 40 }, () => Buffer.from(randomBytes(40_000).toString('hex')));

  it('is compressed while it arrives', async () => {
    respondWith(streamOf(pieces, 'whole').answer);
    const { headers, bytes, text } = await get('gzip');
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' });
    expect(text).toBe(`{"result":${Buffer.concat(pieces)}}`);
    expect(bytes.length).toBeLessThan(0.6 * text.length);
    await until('no bytes are charged', () => readers.budget.total === 0);
  });

  it('that fails never looks complete', async () => {
    respondWith(streamOf(pieces, 'broken').answer);
    await expect(get('gzip')).rejects.toThrow();
  });

  it('is aborted when its client disconnects', async () => {
    const { answer, seen } = streamOf(
      Array.from({ length: 400 }, () => pieces[0] ?? Buffer.alloc(0)),
      'whole',
    );
    respondWith(answer);
    const request = httpRequest(url, { agent: false, headers: { 'accept-encoding': 'br' } });
    request.on('error', () => undefined);
    request.end();
    await once(request, 'response');
    request.destroy();
    await until('it is aborted', () => seen.aborted);
  });
});
