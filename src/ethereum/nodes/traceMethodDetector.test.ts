import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Player, startPlayer } from '../../../test/conformance/player.ts';
import { NodeClient } from './nodeClient.ts';
import { TraceMethodDetector } from './traceMethodDetector.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const BLOCK = { number: '0x5', hash: HASH, transactions: [] };

describe('the method by which a node gives traces', () => {
  let node: Player;
  let client: NodeClient;
  let detector: TraceMethodDetector;
  /** What the node is at the moment: a fake, as no real node changes in place. */
  let offers: 'trace_block' | 'debug_traceBlockByHash';
  let version: string;
  let probes: number;

  beforeEach(async () => {
    [offers, version, probes] = ['trace_block', 'One/v1', 0];
    node = await startPlayer((method) => {
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

  it('is asked for once while the version stays the same', async () => {
    expect(await detector.current()).toBe('trace_block');
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await detector.current()).toBe('trace_block');
    expect(probes).toBe(1);
  });

  it('is asked for anew within a minute after the version has changed, though nothing failed', async () => {
    await detector.current();
    [offers, version] = ['debug_traceBlockByHash', 'Two/v1'];
    expect(await detector.current()).toBe('trace_block');
    vi.setSystemTime(Date.now() + 60_000);
    expect(await detector.current()).toBe('callTracer');
  });

  it('is asked for anew at once where a failure shows that the version has changed', async () => {
    await detector.current();
    [offers, version] = ['debug_traceBlockByHash', 'Two/v1'];
    detector.failed();
    expect(await detector.current()).toBe('callTracer');
  });

  it('is asked for anew after failures of a node of the same version, but not after each', async () => {
    await detector.current();
    for (let i = 0; i < 5; i++) {
      detector.failed();
      await detector.current();
    }
    expect(probes).toBe(1);
    offers = 'debug_traceBlockByHash';
    vi.setSystemTime(Date.now() + 5_000);
    detector.failed();
    expect(await detector.current()).toBe('callTracer');
  });
});
