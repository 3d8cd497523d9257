import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { call, send } from './support/send.ts';

/** anvil's `finalized` block is 64 blocks below its head. */
const FINAL_DEPTH = 64;
const BLOCKS = 80;
const FINAL = '0x5';
const NOT_FINAL = `0x${(BLOCKS - 2).toString(16)}`;
/** Uses the node's `finalized` block, as on a real network: results of a development chain are never cached for good. */
const POLL = ['--index-poll-interval-ms', '100', '--index-finality', 'node'];

describe('the response cache', () => {
  let chain: ReplicatedChain;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-cache-'));

  beforeAll(async () => {
    chain = await startReplicatedChain(1);
    await chain.grow(BLOCKS);
    node = await startInterceptedNode(chain.nodes[0]?.url ?? '');
    floodgate = await startFloodgate({ upstream: node.url, args: POLL, dataDir });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await chain?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const cacheOf = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    (await call(floodgate.gatewayUrl, method, ...params)).headers['x-floodgate-cache'];

  it('requests a final block from the node once', async () => {
    const first = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', FINAL, true);
    const kept = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 5, true);
    expect(kept.headers['x-floodgate-cache']).toBe('hit');
    expect(kept.text).toBe(first.text);
  });

  it('returns the id of the request with a cached result', async () => {
    await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', FINAL, false);
    const body = { jsonrpc: '2.0', id: 'mine', method: 'eth_getBlockByNumber', params: [FINAL, false] };
    expect((await send(floodgate.gatewayUrl, { body })).json.id).toBe('mine');
  });

  it('keeps results of blocks that are not final until the head changes, and replaces them after a reorganisation', async () => {
    const before = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', NOT_FINAL, false);
    expect(await cacheOf('eth_getBlockByNumber', NOT_FINAL, false)).toBe('hit');
    await connect(chain.nodes[0]?.url ?? '').call('anvil_reorg', 5, []);
    await until('the block to be replaced', async () => {
      const after = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', NOT_FINAL, false);
      return after.json.result.hash !== before.json.result.hash;
    });
  });

  it('does not store null and errors', async () => {
    const unknown = `0x${'12'.repeat(32)}`;
    for (let i = 0; i < 2; i++) {
      expect(await cacheOf('eth_getTransactionReceipt', unknown)).toBe('miss');
      expect(await cacheOf('eth_call', { data: '0xfe' }, FINAL)).toBe('miss');
    }
  });

  it('resolves block tags on a single node, so that a block is visible as soon as it is mined', async () => {
    const direct = connect(chain.nodes[0]?.url ?? '');
    for (let i = 0; i < 5; i++) {
      await direct.call('evm_mine');
      const number = await direct.call('eth_blockNumber');
      expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(number);
      const logs = await call(floodgate.gatewayUrl, 'eth_getLogs', { fromBlock: number, toBlock: 'latest' });
      expect(logs.json.result).toEqual([]);
    }
  });

  it('sends identical entries of a batch to the node once', async () => {
    const before = node.counts.get('eth_getStorageAt') ?? 0;
    const entry = {
      jsonrpc: '2.0',
      method: 'eth_getStorageAt',
      params: [`0x${'2'.repeat(40)}`, '0x0', 'latest'],
    };
    const { json } = await send(floodgate.gatewayUrl, { body: [1, 2, 3, 4].map((id) => ({ ...entry, id })) });
    expect(json.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4]);
    expect(new Set(json.map(({ result }: { result: string }) => result)).size).toBe(1);
    expect(node.counts.get('eth_getStorageAt')).toBe(before + 1);
  });

  it('coalesces identical concurrent requests into one node request', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    node.intercept = async ({ methods }, answer) => {
      if (methods[0] === 'eth_getCode') await held;
      return answer();
    };
    const address = `0x${'77'.repeat(20)}`;
    const before = node.counts.get('eth_getCode') ?? 0;
    const calls = Array.from({ length: 20 }, () => call(floodgate.gatewayUrl, 'eth_getCode', address, FINAL));
    await until('the node to receive the call', async () => (node.counts.get('eth_getCode') ?? 0) > before);
    // Sent after the 20 calls: its response shows that the server has read them.
    await call(floodgate.gatewayUrl, 'eth_chainId');
    release();
    const answers = await Promise.all(calls);
    node.intercept = undefined;
    expect(node.counts.get('eth_getCode')).toBe(before + 1);
    for (const { json } of answers) expect(json.result).toBe('0x');
    const coalesced = answers.filter(({ headers }) => headers['x-floodgate-cache'] === 'coalesced');
    expect(coalesced.length).toBeGreaterThan(0);
  });

  it('finds entries on disk if the node failed to identify its chain at first', async () => {
    const args = [...POLL, '--gateway-cache-memory-bytes', '0'];
    // Only results confirmed by two nodes are written to disk.
    const options = { upstream: [node.url, node.url], args, dataDir: join(dataDir, 'reported-late') };
    let server = await startFloodgate(options);
    const isKept = async (): Promise<boolean> => {
      const { headers } = await call(server.gatewayUrl, 'eth_getBlockByNumber', FINAL, false);
      return headers['x-floodgate-cache'] === 'hit';
    };
    try {
      await until('the store to be open and the block to be written', async () => {
        await server.stop();
        server = await startFloodgate(options);
        return isKept();
      });
      await server.stop();
      // The chain does not grow from here on, so no new head triggers another attempt.
      const head = Number(await connect(node.url).call('eth_blockNumber'));
      const anchor = `"eth_getBlockByNumber","params":["0x${(head - FINAL_DEPTH).toString(16)}",`;
      let refused = 0;
      node.intercept = ({ body }, answer) => {
        if (!body.includes(anchor) || refused > 1) return answer();
        refused++;
        return '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not now"}}';
      };
      server = await startFloodgate(options);
      await until('both nodes to be asked for the block that identifies their chain', () => refused > 1);
      await until('the stored block to be found', isKept);
    } finally {
      node.intercept = undefined;
      await server.stop();
    }
  });

  it('limits the bytes on disk and evicts the oldest entries first', async () => {
    const maxBytes = 12_000;
    const bounds = ['--gateway-cache-memory-bytes', '0', '--gateway-cache-disk-bytes', String(maxBytes)];
    const bounded = {
      upstream: [node.url, node.url],
      args: [...POLL, ...bounds],
      dataDir: join(dataDir, 'bounded'),
    };
    /** Returns the size of a block's response in bytes if it came from the cache, otherwise 0. */
    const keptBytes = async (server: Floodgate, number: number): Promise<number> => {
      const block = `0x${number.toString(16)}`;
      const { headers, json, text } = await call(server.gatewayUrl, 'eth_getBlockByNumber', block, false);
      expect(json.result.number).toBe(block);
      return headers['x-floodgate-cache'] === 'hit' ? text.length : 0;
    };
    const newest = BLOCKS - FINAL_DEPTH;
    let server = await startFloodgate(bounded);
    try {
      // The store accepts entries only after the chain is identified.
      await until('the store to be open', async () => {
        await keptBytes(server, 1);
        return (await keptBytes(server, 1)) > 0;
      });
      for (let number = 2; number <= newest; number++)
        await until(
          'the result to be confirmed by two nodes',
          async () => (await keptBytes(server, number)) > 0,
        );
      await server.stop();
      server = await startFloodgate(bounded);
      await until('the store to be open', async () => (await keptBytes(server, newest)) > 0);
      let sum = 0;
      let number = newest;
      for (let bytes = 1; bytes > 0; number--) {
        bytes = await keptBytes(server, number);
        sum += bytes;
      }
      expect(number).toBeGreaterThan(0);
      expect(sum).toBeLessThanOrEqual(maxBytes);
      expect(sum).toBeGreaterThan(maxBytes / 2);
    } finally {
      await server.stop();
    }
  });
});
