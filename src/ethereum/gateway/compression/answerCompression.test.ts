import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { Readers, TrackedResponse } from '../../../platform/http/index.ts';
import { tallied } from '../../../platform/metrics/index.ts';
import type { HttpAnswer, ResultSink } from '../../jsonrpc/index.ts';
import { KeptAnswer } from '../cache/keptAnswer.ts';
import { AnswerCompression } from './answerCompression.ts';

const readers = new Readers({
  maxBytes: 100_000_000,
  maxBytesPerClient: 100_000_000,
  sendTimeoutMs: 30_000,
  clientAddress: ({ socket }) => String(socket.remoteAddress),
  metrics: new Registry(),
  log: { warn: () => undefined },
});
const options = { ServerResponse: TrackedResponse as unknown as typeof ServerResponse }; // its types know only node's own
const server = createServer(options, (request, response) =>
  answering(response as unknown as TrackedResponse, String(request.headers['accept-encoding'])),
);
readers.watch(server);
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
});
afterAll(() => server.close());

let counts: ReturnType<typeof newCounts>;
function newCounts() {
  const count = tallied({ name: 'count', help: 'x', labelNames: ['x'], registry: new Registry() });
  return { kept: count({ x: '1' }), live: count({ x: '2' }), busy: count({ x: '3' }) };
}
let hasSome: boolean;
let compression: AnswerCompression;
let answering: (response: TrackedResponse, accepts: string) => void;
beforeEach(() => {
  counts = newCounts();
  hasSome = true;
  compression = new AnswerCompression(counts, {
    get hasSome() {
      return hasSome;
    },
  });
});
const counted = (): object => ({
  kept: counts.kept.count,
  live: counts.live.count,
  busy: counts.busy.count,
});

const respondWith = (answer: HttpAnswer, kept?: KeptAnswer): void => {
  answering = (response, accepts) => compression.respond(answer, { response, headers: [], accepts, kept });
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

/** What arrives, as it is. */
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

/** 186 kB of logs are what is asked for most of all large answers; these are like them. */
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

describe('an answer', () => {
  it('is compressed as its client likes best, and told so', async () => {
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
    expect(counted()).toEqual({ kept: 0, live: 2, busy: 0 });
  });

  it('is the same whatever its parts are and however it is compressed', async () => {
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
    ['is not wanted compressed', 'gzip;q=0', LOGS],
    ['is wanted in what there is not', 'compress', LOGS],
  ])('that %s is sent as it is', async (_what, accepts, result) => {
    const answer = single(1, result);
    respondWith(answer);
    const { headers, bytes } = await get(accepts);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(bytes.toString()).toBe(textOf(answer));
    expect(counted()).toEqual({ kept: 0, live: 0, busy: 0 });
  });

  it('is sent as it is while there is no processor to spare', async () => {
    hasSome = false;
    const answer = single(1, LOGS);
    respondWith(answer);
    expect((await get('gzip')).bytes.toString()).toBe(textOf(answer));
    expect(counted()).toEqual({ kept: 0, live: 0, busy: 1 });
  });

  it('is sent as it is while two others are compressed', async () => {
    const waiting: [TrackedResponse, string][] = [];
    answering = (...one) => waiting.push(one);
    const got = Array.from({ length: 10 }, () => get('br'));
    await until('all have asked', () => waiting.length === 10);
    for (const [response, accepts] of waiting)
      compression.respond(single(1, LOGS), { response, headers: [], accepts, kept: undefined });
    for (const { text } of await Promise.all(got)) expect(text).toBe(textOf(single(1, LOGS)));
    expect(counted()).toEqual({ kept: 0, live: 2, busy: 8 });
  });

  it('gives the memory that it was made in back as soon as it is compressed', async () => {
    let released = 0;
    respondWith({ ...single(1, LOGS), release: () => released++ });
    await get('br');
    hasSome = false;
    await get('br');
    await until('both are given back', () => released === 2);
  });
});

describe('an answer that is kept', () => {
  it('is compressed once, for all ids, and sent compressed when there is no processor to spare, too', async () => {
    const kept = new KeptAnswer(LOGS);
    respondWith(single(1, LOGS), kept);
    expect((await get('gzip')).text).toBe(textOf(single(1, LOGS)));
    const form = kept.deflated;
    hasSome = false;
    for (const id of [2, 33, 444_444]) {
      respondWith(single(id, LOGS), kept);
      // Its form is taken where the client likes another better.
      const { headers, bytes, text } = await get('gzip;q=0.5, br');
      expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(bytes.length) });
      expect(text).toBe(textOf(single(id, LOGS)));
    }
    expect(kept.deflated).toBe(form);
    expect(counted()).toEqual({ kept: 4, live: 0, busy: 0 });
  });

  it('is sent to others as it is while it is compressed, and to those whose id is endless', async () => {
    const kept = new KeptAnswer(LOGS);
    const waiting: [TrackedResponse, string][] = [];
    answering = (...one) => waiting.push(one);
    const got = Array.from({ length: 5 }, () => get('gzip'));
    await until('all have asked', () => waiting.length === 5);
    for (const [response, accepts] of waiting)
      compression.respond(single(1, LOGS), { response, headers: [], accepts, kept });
    const coded = (await Promise.all(got)).map(({ headers }) => headers['content-encoding']);
    expect(coded.filter((coding) => coding === 'gzip')).toHaveLength(1);
    const endless: HttpAnswer = { status: 200, parts: ['"x'.repeat(50_000), LOGS, '}'] };
    respondWith(endless, kept);
    const { headers, text } = await get('gzip');
    expect(headers).not.toHaveProperty('content-encoding');
    expect(text).toBe(textOf(endless));
  });
});

describe('what a compressed answer holds', () => {
  it('are its compressed bytes and nothing else, until they are taken', async () => {
    const hex = Buffer.from(randomBytes(15_000_000).toString('hex'));
    let opened: TrackedResponse | undefined;
    answering = (response, accepts) => {
      opened = response;
      expect(response.hold(hex)).toBe(true);
      compression.respond(single(1, hex), { response, headers: [], accepts, kept: undefined });
    };
    const request = httpRequest(url, { agent: false, headers: { 'accept-encoding': 'br' } });
    request.on('error', () => undefined);
    request.end();
    const [response] = await once(request, 'response');
    const bytes = Number(response.headers['content-length']);
    // Half of random digits can be saved; the system takes some of the rest.
    expect(bytes).toBeLessThan(0.6 * hex.length);
    expect(opened?.account?.bytes).toBe(bytes);
    expect(readers.unsent.bytes).toBe(bytes);
    request.destroy();
    await until('nothing is held', () => readers.unsent.bytes === 0);
  });
});

describe('a stream', () => {
  /** Gives pieces, then ends as it is told. */
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
    await until('nothing is held', () => readers.unsent.bytes === 0);
  });

  it('that breaks off never looks whole', async () => {
    respondWith(streamOf(pieces, 'broken').answer);
    await expect(get('gzip')).rejects.toThrow();
  });

  it('is told when its client goes away', async () => {
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
    await until('it is told', () => seen.aborted);
  });
});
