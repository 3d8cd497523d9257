import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type SameChain, startSameChain } from './support/sameChain.ts';
import { call, send } from './support/send.ts';
import { type SpoiltNode, startSpoiltNode } from './support/spoiltNode.ts';

/** anvil takes the block so many below its head for final. */
const FINAL_DEPTH = 64;
const BLOCKS = 80;
const FINAL = '0x5';
const NOT_FINAL = `0x${(BLOCKS - 2).toString(16)}`;
/** Blocks are final as on a real network: of a development chain nothing is kept for good. */
const POLL = ['--index-poll-interval-ms', '100', '--index-finality', 'node'];

describe('kept answers', () => {
  let chain: SameChain;
  let node: SpoiltNode;
  let floodgate: Floodgate;
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-cache-'));

  beforeAll(async () => {
    chain = await startSameChain(1);
    await chain.grow(BLOCKS);
    node = await startSpoiltNode(chain.nodes[0]?.url ?? '');
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

  it('a final block is asked for once', async () => {
    const first = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', FINAL, true);
    const kept = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 5, true);
    expect(kept.headers['x-floodgate-cache']).toBe('hit');
    expect(kept.text).toBe(first.text);
  });

  it('an answer tells its id even where it is kept', async () => {
    await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', FINAL, false);
    const body = { jsonrpc: '2.0', id: 'mine', method: 'eth_getBlockByNumber', params: [FINAL, false] };
    expect((await send(floodgate.gatewayUrl, { body })).json.id).toBe('mine');
  });

  it('what is not final lives as long as the head, and a reorganisation replaces it', async () => {
    const before = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', NOT_FINAL, false);
    expect(await cacheOf('eth_getBlockByNumber', NOT_FINAL, false)).toBe('hit');
    await connect(chain.nodes[0]?.url ?? '').call('anvil_reorg', 5, []);
    await until('the replaced block is gone', async () => {
      const after = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', NOT_FINAL, false);
      return after.json.result.hash !== before.json.result.hash;
    });
  });

  it('null and errors are not kept', async () => {
    const unknown = `0x${'12'.repeat(32)}`;
    for (let i = 0; i < 2; i++) {
      expect(await cacheOf('eth_getTransactionReceipt', unknown)).toBe('miss');
      expect(await cacheOf('eth_call', { data: '0xfe' }, FINAL)).toBe('miss');
    }
  });

  it('tags are left to a single node: what it has just mined is seen at once', async () => {
    const direct = connect(chain.nodes[0]?.url ?? '');
    for (let i = 0; i < 5; i++) {
      await direct.call('evm_mine');
      const number = await direct.call('eth_blockNumber');
      expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(number);
      const logs = await call(floodgate.gatewayUrl, 'eth_getLogs', { fromBlock: number, toBlock: 'latest' });
      expect(logs.json.result).toEqual([]);
    }
  });

  it('the same several times in one batch is asked of the node once', async () => {
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

  it('the same asked for by many at once is asked of the node once', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    node.spoil = async ({ methods }, answer) => {
      if (methods[0] === 'eth_getCode') await held;
      return answer();
    };
    const address = `0x${'77'.repeat(20)}`;
    const before = node.counts.get('eth_getCode') ?? 0;
    const calls = Array.from({ length: 20 }, () => call(floodgate.gatewayUrl, 'eth_getCode', address, FINAL));
    await until('the node is asked', async () => (node.counts.get('eth_getCode') ?? 0) > before);
    // One more request after all of them has been answered: the server has read the twenty by then.
    await call(floodgate.gatewayUrl, 'eth_chainId');
    release();
    const answers = await Promise.all(calls);
    node.spoil = undefined;
    expect(node.counts.get('eth_getCode')).toBe(before + 1);
    for (const { json } of answers) expect(json.result).toBe('0x');
    const coalesced = answers.filter(({ headers }) => headers['x-floodgate-cache'] === 'coalesced');
    expect(coalesced.length).toBeGreaterThan(0);
  });

  it('on disk are found again where the node could not tell at first which chain it is on', async () => {
    const args = [...POLL, '--gateway-cache-memory-bytes', '0'];
    // Only what two nodes said is on disk.
    const options = { upstream: [node.url, node.url], args, dataDir: join(dataDir, 'told-late') };
    let server = await startFloodgate(options);
    const isKept = async (): Promise<boolean> => {
      const { headers } = await call(server.gatewayUrl, 'eth_getBlockByNumber', FINAL, false);
      return headers['x-floodgate-cache'] === 'hit';
    };
    try {
      await until('the store is open and the block is written', async () => {
        await server.stop();
        server = await startFloodgate(options);
        return isKept();
      });
      await server.stop();
      // The chain stands still from here on: no new head comes to try again with.
      const head = Number(await connect(node.url).call('eth_blockNumber'));
      const anchor = `"eth_getBlockByNumber","params":["0x${(head - FINAL_DEPTH).toString(16)}",`;
      let refused = 0;
      node.spoil = ({ body }, answer) => {
        if (!body.includes(anchor) || refused > 1) return answer();
        refused++;
        return '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not now"}}';
      };
      server = await startFloodgate(options);
      await until('both were asked for the block that tells their chain', () => refused > 1);
      await until('the kept block is found', isKept);
    } finally {
      node.spoil = undefined;
      await server.stop();
    }
  });

  it('on disk have a bound of bytes: the newest are kept, the oldest go', async () => {
    const maxBytes = 12_000;
    const bounds = ['--gateway-cache-memory-bytes', '0', '--gateway-cache-disk-bytes', String(maxBytes)];
    const bounded = {
      upstream: [node.url, node.url],
      args: [...POLL, ...bounds],
      dataDir: join(dataDir, 'bounded'),
    };
    /** The bytes of a block's answer where that was kept. */
    const keptBytes = async (server: Floodgate, number: number): Promise<number> => {
      const block = `0x${number.toString(16)}`;
      const { headers, json, text } = await call(server.gatewayUrl, 'eth_getBlockByNumber', block, false);
      expect(json.result.number).toBe(block);
      return headers['x-floodgate-cache'] === 'hit' ? text.length : 0;
    };
    const newest = BLOCKS - FINAL_DEPTH;
    let server = await startFloodgate(bounded);
    try {
      // Written once the store knows which chain it is of.
      await until('the store is open', async () => {
        await keptBytes(server, 1);
        return (await keptBytes(server, 1)) > 0;
      });
      for (let number = 2; number <= newest; number++)
        await until('two nodes have said it', async () => (await keptBytes(server, number)) > 0);
      await server.stop();
      server = await startFloodgate(bounded);
      await until('the store is open', async () => (await keptBytes(server, newest)) > 0);
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
