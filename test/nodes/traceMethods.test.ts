import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { type Anvil, connect, createTraffic, startAnvil, type TrafficBlock } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

interface Served {
  readonly transactionHash: string;
  readonly traceAddress: readonly number[];
  readonly result: { readonly output?: string; readonly code?: string } | null;
}

interface Replay {
  readonly transactionHash: string;
}

const outputOf = (root: Served | undefined): string => root?.result?.output ?? root?.result?.code ?? '0x';

/** Returns a trace without the members that name its block and transaction. */
function withoutBlock(trace: Served): object {
  const named = ['blockHash', 'blockNumber', 'transactionHash', 'transactionPosition'];
  return Object.fromEntries(Object.entries(trace).filter(([name]) => !named.includes(name)));
}

describe('the methods for blocks and transactions', () => {
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

  test('accept the trailing options of Erigon that do not change a result', async () => {
    const { result } = await ask('trace_block', '0x3');
    for (const options of [[false], [null, null], [true, {}], [null, { includePrecompiles: false }]])
      expect((await ask('trace_block', '0x3', ...options)).result).toEqual(result);
    const filter = { fromBlock: '0x3', toBlock: '0x3' };
    expect((await ask('trace_filter', filter, false, {})).result).toEqual(result);
  });

  test('replay each transaction with the traces and output of the index', async () => {
    for (const { number } of blocks) {
      const { result } = await ask('trace_block', number);
      const hashes = [...new Set((result as Served[]).map(({ transactionHash }) => transactionHash))];
      const replays = (await ask('trace_replayBlockTransactions', number, ['trace'])).result as Replay[];
      expect(replays.map(({ transactionHash }) => transactionHash)).toEqual(hashes);
      for (const { transactionHash, ...replay } of replays) {
        const expected = (result as Served[]).filter((one) => one.transactionHash === transactionHash);
        expect(replay).toEqual({
          output: outputOf(expected[0]),
          stateDiff: null,
          trace: expected.map(withoutBlock),
          vmTrace: null,
        });
        expect((await ask('trace_replayTransaction', transactionHash, ['trace'])).result).toEqual(replay);
      }
    }
  });

  test('return null for unknown transactions and frames, as Parity and Erigon do', async () => {
    const nobody = `0x${'ab'.repeat(32)}`;
    expect(await ask('trace_transaction', nobody)).toMatchObject({ result: null });
    expect(await ask('trace_replayTransaction', nobody, ['trace'])).toMatchObject({ result: null });
    expect(await ask('trace_get', nobody, ['0x0'])).toMatchObject({ result: null });
    const [first] = (await ask('trace_block', 'latest')).result as Served[];
    if (first)
      expect(await ask('trace_get', first.transactionHash, ['0xfff'])).toMatchObject({ result: null });
    expect(await ask('trace_block', '0x0')).toMatchObject({ result: [] });
  });

  test.each([
    ['trace_block', [], /must have at least 1 element/],
    ['trace_block', ['0x1', 'false'], /params\[1\] \(gasBailOut\) must be true or false/],
    ['trace_block', ['0x1', null, null, null], /it has 4/],
    [
      'trace_transaction',
      [`0x${'ab'.repeat(32)}`, false, { includePrecompiles: true }],
      /traceConfig\) must be null, \{\} or/,
    ],
    ['trace_block', ['pending'], /must be a block number/],
    ['trace_block', ['0xffffff'], /past the head of the chain/],
    ['trace_transaction', ['0x12'], /must be a hash/],
    ['trace_get', [`0x${'ab'.repeat(32)}`], /must have at least 2 elements/],
    [
      'trace_replayTransaction',
      [`0x${'ab'.repeat(32)}`, 'trace'],
      /traceTypes\) must be a list of at most 3/,
    ],
    ['trace_get', [`0x${'ab'.repeat(32)}`, '0x0'], /\(path\) must be a list of at most 1025.*; it is "0x0"/],
    ['trace_get', [`0x${'ab'.repeat(32)}`, ['x']], /\(path\)\[0\] must be an index.*; it is "x"/],
  ])('reject %s %j with -32602', async (method, params, message) => {
    const { error } = await ask(method, ...params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
  });
});
