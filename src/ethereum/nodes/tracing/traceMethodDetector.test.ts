import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Player, startFakeNode } from '../../../../test/conformance/player.ts';
import { startHttpServer } from '../../../../test/support/httpServer.ts';
import { NodeClient } from '../client/nodeClient.ts';
import { TraceMethodDetector } from './traceMethodDetector.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const BLOCK = { number: '0x5', hash: HASH, transactions: [] };

describe('the trace method of a node', () => {
  let node: Player;
  let client: NodeClient;
  let detector: TraceMethodDetector;
  /** Method that the fake node supports now. No real node can change it in place. */
  let offers: 'trace_block' | 'debug_traceBlockByHash';
  let version: string;
  let probes: number;

  beforeEach(async () => {
    [offers, version, probes] = ['trace_block', 'One/v1', 0];
    node = await startFakeNode((method) => {
      if (method === 'web3_clientVersion') return version;
      if (method === 'eth_getBlockByNumber') return BLOCK;
      if (method === 'trace_block') probes++;
      return method === offers ? [] : undefined;
    });
    client = new NodeClient(node.url);
    detector = new TraceMethodDetector(client, () => undefined);
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await client.close();
    await node.stop();
  });

  it('is probed one time while the version stays the same', async () => {
    expect(await detector.current()).toBe('trace_block');
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await detector.current()).toBe('trace_block');
    expect(probes).toBe(1);
  });

  it('is probed again within a minute after a version change, even without a failure', async () => {
    await detector.current();
    [offers, version] = ['debug_traceBlockByHash', 'Two/v1'];
    expect(await detector.current()).toBe('trace_block');
    vi.setSystemTime(Date.now() + 60_000);
    expect(await detector.current()).toBe('callTracer');
  });

  it('is probed again immediately if the version has changed at a failure', async () => {
    await detector.current();
    [offers, version] = ['debug_traceBlockByHash', 'Two/v1'];
    detector.failed(5);
    expect(await detector.current()).toBe('callTracer');
  });

  it('is probed again after failures at the same version, but not after each failure', async () => {
    await detector.current();
    for (let i = 0; i < 5; i++) {
      detector.failed(5);
      await detector.current();
    }
    expect(probes).toBe(1);
    offers = 'debug_traceBlockByHash';
    vi.setSystemTime(Date.now() + 5_000);
    detector.failed(5);
    expect(await detector.current()).toBe('callTracer');
  });

  it('is detected on an older block if the newest ones cannot be traced', async () => {
    const numberOf = (which: unknown): string => (which === 'latest' ? '0x5' : String(which));
    const hashOf = (number: string): string => `0x${number.slice(2).padStart(64, '0')}`;
    const refused = new Set<string>();
    const bad = await startHttpServer((text, _request, response) => {
      const { id, method, params } = JSON.parse(text);
      const answer = (): object => {
        if (method === 'eth_getBlockByNumber') {
          const number = numberOf(params[0]);
          return { result: { number, hash: hashOf(number), transactions: [HASH] } };
        }
        if (method !== 'debug_traceBlockByHash')
          return { error: { code: -32_601, message: `the method ${method} does not exist` } };
        if (params[0] === hashOf('0x3'))
          return { result: [{ result: { type: 'CALL', from: HASH, gas: '0x1', gasUsed: '0x1' } }] };
        refused.add(params[0]);
        return { error: { code: -32_002, message: 'request timed out' } };
      };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer() }));
    });
    const badClient = new NodeClient(bad.url);
    try {
      expect(await new TraceMethodDetector(badClient, () => undefined).current()).toBe('callTracer');
      expect([...refused]).toEqual([hashOf('0x5'), hashOf('0x4')]);
    } finally {
      await badClient.close();
      await bad.stop();
    }
  });
});
