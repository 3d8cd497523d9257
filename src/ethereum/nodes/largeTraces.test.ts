import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { startHttpServer } from '../../../test/support/httpServer.ts';
import {
  type Dialect,
  type LargeTracesNode,
  startLargeTracesNode,
} from '../../../test/support/largeTraces.ts';
import { indexBlock } from '../traces/index.ts';
import { NodeClient } from './client/nodeClient.ts';
import { ResponseMemory } from './largeResponses/responseMemory.ts';
import type { TraceLimits } from './largeResponses/traceLimits.ts';
import { NodeTraces } from './tracing/nodeTraces.ts';

const MIB = 1024 * 1024;
const BLOCK = 3;
/** 12 MB of JSON. */
const CALLS = { calls: 60, inputBytes: 100_000 };

describe.each<Dialect>(['callTracer', 'trace_block'])('a block with large traces, by %s,', (dialect) => {
  let node: LargeTracesNode;
  let client: NodeClient;
  afterEach(async () => {
    await client.close();
    await node.stop();
  });

  async function tracesOf(
    options: Partial<Parameters<typeof startLargeTracesNode>[0]>,
    limits?: Partial<TraceLimits>,
  ): Promise<NodeTraces> {
    node = await startLargeTracesNode({ dialect, block: BLOCK, head: 5, ...CALLS, ...options });
    client = new NodeClient(node.url);
    return new NodeTraces(client, { limits: { maxBlockBytes: MIB, maxReadBytes: 64 * MIB, ...limits } });
  }

  it('is read with all its traces, and its long input is stored one time', async () => {
    const traces = await tracesOf({});
    const block = await traces.block(BLOCK);
    expect(node.longestBytes()).toBeGreaterThan(12e6);
    expect(block?.traces).toHaveLength(CALLS.calls + 1);
    const inputs = block?.traces.slice(1).map((trace) => trace.type === 'call' && trace.action.input);
    expect(new Set(inputs)).toEqual(new Set([`0x${'5a'.repeat(CALLS.inputBytes)}`]));
    const { chunks } = indexBlock(block?.header ?? expect.unreachable(), block?.traces ?? []);
    expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(
      CALLS.inputBytes + 200 * CALLS.calls,
    );
  });

  it.each(['too long to read whole', 'refused by the node because of its size'])(
    'is fetched by transaction if the response is %s',
    async (why) => {
      const whole = await (await tracesOf({})).block(BLOCK);
      const wholeBytes = node.longestBytes();
      await client.close();
      await node.stop();
      // The response for the transaction is at least 90 bytes shorter than the one for the block.
      const isRefused = why.startsWith('refused');
      const traces = await tracesOf(isRefused ? { refusesBlocks: true } : {}, {
        maxReadBytes: wholeBytes - 50,
      });
      expect(await traces.block(BLOCK)).toEqual(whole);
      expect(node.methods).toContain(
        dialect === 'callTracer' ? 'debug_traceTransaction' : 'trace_transaction',
      );
    },
  );

  it.each([
    {
      of: 'reading a transaction',
      limits: { maxReadBytes: 10 * MIB },
      bound: 'bytes read for a transaction',
    },
    { of: 'keeping it', limits: { maxBlockBytes: 100_000 }, bound: 'index.maxBlockBytes' },
    {
      of: 'keeping its transactions',
      limits: { maxBlockBytes: 100_000 },
      bound: 'index.maxBlockBytes',
      refusesBlocks: true,
    },
  ])('is rejected with the name of the limit of $of', async ({ limits, bound, refusesBlocks = false }) => {
    const traces = await tracesOf({ refusesBlocks }, limits);
    const error = await traces.block(BLOCK).catch((error: unknown) => error);
    expect(error).toMatchObject({ failure: 'oversized', cause: { bound } });
    expect(String(error)).toMatch(/block 3: .* bytes/);
    expect(await traces.block(BLOCK - 1)).toMatchObject({ traces: [] });
  });

  it.each([
    ['no JSON', '<html>', /not JSON/],
    ['nested without end', '['.repeat(10_000), /not JSON/],
    ['a result that comes twice', '[],"result":', undefined],
  ])('is accepted or rejected by its content: %s', async (_, tracesBegin, message) => {
    const traces = await tracesOf({ tracesBegin });
    const block = traces.block(BLOCK);
    if (message === undefined) expect((await block)?.traces).toHaveLength(CALLS.calls + 1);
    else await expect(block).rejects.toThrow(message);
  });

  it('does not prevent the detection of the trace method if it is the newest block', async () => {
    const traces = await tracesOf({ head: BLOCK }, { maxBlockBytes: 100_000 });
    await expect(traces.block(BLOCK)).rejects.toMatchObject({ failure: 'oversized' });
    expect(await traces.block(BLOCK - 1)).toMatchObject({ traces: [] });
  });
});

describe('a large response that does not end', () => {
  it.each([
    ['breaks off', (response: ServerResponse) => response.destroy(), /closed the connection/],
    [
      'is compressed although no compression was requested',
      (response: ServerResponse) => response.end(gzipSync(Buffer.alloc(64 * MIB), { level: 1 })),
      /not JSON/,
    ],
  ])('is rejected if it %s', async (_, send, message) => {
    const server = await startHttpServer((_body, _request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (message.source === 'closed the connection') response.write('[');
      send(response);
    });
    const client = new NodeClient(server.url);
    try {
      const kept = new ResponseMemory(MIB, 'node:1, block 3');
      const answer = client.batch([['trace_block', '0x3']], {
        memory: kept,
        streamAboveBytes: 0,
        maxBytes: 64 * MIB,
      });
      await expect(answer).rejects.toThrow(message);
    } finally {
      await client.close();
      await server.stop();
    }
  });
});
