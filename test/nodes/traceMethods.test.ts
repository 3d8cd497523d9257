import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { type Anvil, connect, createTraffic, startAnvil, type TrafficBlock } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

interface Served {
  readonly transactionHash: string;
  readonly traceAddress: readonly number[];
}

describe('trace_block, trace_transaction and trace_get', () => {
  let anvil: Anvil;
  let floodgate: Floodgate;
  let blocks: TrafficBlock[];

  const ask = async (method: string, ...params: unknown[]) =>
    (await call(floodgate.gatewayUrl, method, ...params)).json;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 4 });
    blocks = await traffic.run({ steps: 30 });
    // Only final blocks are indexed on demand; anvil's `finalized` block is 64 below its head.
    await connect(anvil.url).call('anvil_mine', '0x60');
    const last = (blocks.at(-1)?.number ?? 0) + 0x60;
    floodgate = await startFloodgate({ upstream: anvil.url, args: ['--index-from', String(last)] });
  });
  afterAll(() => Promise.all([floodgate.stop(), anvil.stop()]));

  test('find a transaction of an unindexed block at the node and index its block', async () => {
    const inNode = await call(anvil.url, 'trace_block', '0x3');
    const hash = (inNode.json.result as Served[])[0]?.transactionHash;
    const { result } = await ask('trace_transaction', hash);
    expect(result.length).toBeGreaterThan(0);
    expect(new Set((result as Served[]).map(({ transactionHash }) => transactionHash))).toEqual(
      new Set([hash]),
    );
    const { result: block } = await ask('trace_block', '0x3');
    expect((block as Served[]).filter(({ transactionHash }) => transactionHash === hash)).toEqual(result);
  });

  test('return the same traces as trace_filter for every block, transaction and frame', async () => {
    for (const { number } of blocks) {
      const filtered = await ask('trace_filter', { fromBlock: number, toBlock: number });
      const { result } = await ask('trace_block', number);
      expect(result).toEqual(filtered.result);
      for (const trace of (result as Served[]).slice(0, 20))
        expect((await ask('trace_get', trace.transactionHash, trace.traceAddress)).result).toEqual(trace);
    }
  });

  test('reject a transaction above gateway.maxAnswerBytes with a hint to trace_get, which returns its traces', async () => {
    const limitBytes = 1_024;
    const args = ['--gateway-max-answer-bytes', String(limitBytes)];
    const narrow = await startFloodgate({ upstream: anvil.url, args });
    try {
      const seen = { given: 0, tooLarge: 0 };
      for (const { number } of blocks) {
        const { result } = await ask('trace_block', number);
        for (const trace of result as Served[]) {
          const whole = (await ask('trace_transaction', trace.transactionHash)).result;
          if (JSON.stringify(whole).length <= limitBytes) continue;
          const refused = (await call(narrow.gatewayUrl, 'trace_transaction', trace.transactionHash)).json;
          expect(refused.error).toMatchObject({ code: -32005, data: { limit: limitBytes } });
          expect(refused.error.message).toMatch(/request single traces with trace_get/);
          const { transactionHash, traceAddress } = trace;
          const one = (await call(narrow.gatewayUrl, 'trace_get', transactionHash, traceAddress)).json;
          if (JSON.stringify(trace).length <= limitBytes) {
            expect(one.result).toEqual(trace);
            seen.given++;
          } else {
            expect(one.error).toMatchObject({ code: -32005, data: { limit: limitBytes } });
            expect(one.error.message).not.toMatch(/trace_get/);
            seen.tooLarge++;
          }
        }
      }
      expect(seen.given).toBeGreaterThan(0);
      expect(seen.tooLarge).toBeGreaterThan(0);
    } finally {
      await narrow.stop();
    }
  });

  test('return null for unknown transactions and frames, as Parity and Erigon do', async () => {
    const nobody = `0x${'ab'.repeat(32)}`;
    expect(await ask('trace_transaction', nobody)).toMatchObject({ result: null });
    expect(await ask('trace_get', nobody, ['0x0'])).toMatchObject({ result: null });
    const [first] = (await ask('trace_block', 'latest')).result as Served[];
    if (first)
      expect(await ask('trace_get', first.transactionHash, ['0xfff'])).toMatchObject({ result: null });
    expect(await ask('trace_block', '0x0')).toMatchObject({ result: [] });
  });

  test.each([
    ['trace_block', [], /must have 1 element/],
    ['trace_block', ['0x1', null], /it has 2/],
    ['trace_block', ['pending'], /must be a block number/],
    ['trace_block', ['0xffffff'], /past the head of the chain/],
    ['trace_transaction', ['0x12'], /must be a hash/],
    ['trace_get', [`0x${'ab'.repeat(32)}`], /must have 2 elements/],
    ['trace_get', [`0x${'ab'.repeat(32)}`, '0x0'], /must be an array/],
    ['trace_get', [`0x${'ab'.repeat(32)}`, ['x']], /params\[1\] \(path\)\[0\] must be an index/],
  ])('reject %s %j with -32602', async (method, params, message) => {
    const { error } = await ask(method, ...params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
  });
});
