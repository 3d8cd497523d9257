import { describe, expect, it } from 'vitest';
import { NodeError, type TransactionFinder } from '../../../nodes/index.ts';
import type { Data, Hash } from '../../../traces/index.ts';
import { checkTraceTypes, framesByTransaction, replayOf } from './replayed.ts';

const hash = (byte: string) => `0x${byte.repeat(32)}` as Hash; // 32 bytes of lower-case hex
const ADDRESS = `0x${'aa'.repeat(20)}`;
const ACTION = { callType: 'call', from: ADDRESS, gas: '0x1', input: '0x', to: ADDRESS, value: '0x0' };
const RESULT = { gasUsed: '0x0', output: '0xcafe' };

/** A trace whose last key is `type`, as in the index. */
const frame = (transactionHash: Hash, members: object = {}, type = 'call') => ({
  action: ACTION,
  blockHash: hash('b1'),
  blockNumber: 7,
  result: RESULT,
  subtraces: 0,
  traceAddress: [],
  transactionHash,
  transactionPosition: 0,
  ...members,
  type,
});

/** A finder whose nodes return this revert data, or fail. */
const finder = (output?: string): TransactionFinder => ({
  transactionBlock: () => Promise.reject(new Error('not used')),
  revertOutput: () =>
    output === undefined ? Promise.reject(new NodeError('refused', 'no')) : Promise.resolve(output as Data), // hex in the tests
});

async function replayed(root: object, node = finder()): Promise<unknown> {
  const [frames] = await framesByTransaction(Buffer.from(JSON.stringify([root])));
  if (frames === undefined) throw new Error('no frames');
  return JSON.parse(String(await replayOf(frames, { finder: node, withHash: false })));
}

describe('a replayed transaction', () => {
  it('has the frames without the members that name block and transaction', async () => {
    expect(await replayed(frame(hash('01')))).toEqual({
      output: '0xcafe',
      stateDiff: null,
      trace: [{ action: ACTION, result: RESULT, subtraces: 0, traceAddress: [], type: 'call' }],
      vmTrace: null,
    });
  });

  it.each([
    {
      what: 'the code of a creation',
      members: { result: { address: ADDRESS, code: '0x6001', gasUsed: '0x1' } },
      output: '0x6001',
    },
    {
      what: 'revert data',
      members: { error: 'Reverted', result: { gasUsed: '0x1', output: '0x08c379a0' } },
      output: '0x08c379a0',
    },
    { what: '0x after another failure', members: { error: 'Out of gas', result: null }, output: '0x' },
  ])('has as output $what', async ({ members, output }) => {
    expect(await replayed(frame(hash('01'), members))).toMatchObject({ output });
  });

  const withoutData = frame(hash('01'), { error: 'Reverted', result: null });

  it('has revert data from a node if the index lacks it', async () => {
    expect(await replayed(withoutData, finder('0xbad0'))).toMatchObject({ output: '0xbad0' });
  });

  it('is an error if no node returns its revert data', async () => {
    await expect(replayed(withoutData)).rejects.toThrow(/lacks the revert data of transaction 0x0101/);
  });
});

describe('the traces of a block', () => {
  it('are split by transaction, without rewards and whatever an error text contains', async () => {
    const error = '},{"type":"call"},"transactionHash":"x"},{"action":{}';
    const reward = { ...frame(hash('00'), {}, 'reward'), transactionHash: null, transactionPosition: null };
    const list = [frame(hash('01'), { error }), frame(hash('01')), frame(hash('02')), reward];
    const split = await framesByTransaction(Buffer.from(JSON.stringify(list)));
    expect(split.map((one) => [one.hash, one.frames.length])).toEqual([
      [hash('01'), 2],
      [hash('02'), 1],
    ]);
    const [first] = split[0]?.frames ?? [];
    expect(JSON.parse(first ?? '')).toEqual({
      action: ACTION,
      error,
      result: RESULT,
      subtraces: 0,
      traceAddress: [],
      type: 'call',
    });
    expect(await framesByTransaction(Buffer.from('[]'))).toEqual([]);
  });

  it('are split in slices, with a turn of other clients between them', async () => {
    const list = Array.from({ length: 3_000 }, (_, i) =>
      frame(hash(i < 1_000 ? '01' : '02'), { traceAddress: [i], error: ',{"action":' }),
    );
    let turns = 0;
    const split = await framesByTransaction(Buffer.from(JSON.stringify(list)), async () => void turns++);
    expect(turns).toBeGreaterThan(5);
    expect(split.map((one) => [one.hash, one.frames.length])).toEqual([
      [hash('01'), 1_000],
      [hash('02'), 2_000],
    ]);
    const paths = split.flatMap(({ frames }) => frames).map((one) => JSON.parse(one).traceAddress);
    expect(paths).toEqual(list.map(({ traceAddress }) => traceAddress));
  });
});

it.each([[['stateDiff']], [['trace', 'vmTrace']], [[]]])('the trace types %j are not served', (types) => {
  expect(() => checkTraceTypes('trace_replayTransaction', types)).toThrow(
    /the method trace_replayTransaction does not exist for the trace types/,
  );
});
