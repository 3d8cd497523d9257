import { describe, expect, it } from 'vitest';
import { convertBlock } from '../convertBlock.ts';
import { parseHeader } from '../parseHeader.ts';
import { chainRulesOf } from './chainRulesOf.ts';

type Json = Record<string, unknown>;

const [MAINNET, OPTIMISM, GNOSIS, POLYGON, ARBITRUM, OTHER] = [1, 10, 100, 137, 42_161, 31_337];
const hash = (byte: string): string => `0x${byte.repeat(32)}`;
const BLOCK = hash('b1');
const ALICE = `0x${'aa'.repeat(20)}`;
const BOB = `0x${'bb'.repeat(20)}`;
const ZERO = `0x${'00'.repeat(20)}`;
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';
const STATE_RECEIVER = '0x0000000000000000000000000000000000001001';

const PAYMENT = { hash: hash('01'), from: ALICE, to: BOB, value: '0x5', gas: '0x5208', input: '0x' };
const STATE_SYNC = { hash: hash('02'), from: ZERO, to: ZERO, value: '0x0', gas: '0x0', input: '0x' };
const PAID = {
  type: 'CALL',
  from: ALICE,
  to: BOB,
  gas: '0x5208',
  gasUsed: '0x5208',
  input: '0x',
  value: '0x5',
};
const SYNCED = {
  type: 'CALL',
  from: SYSTEM,
  to: STATE_RECEIVER,
  gas: '0x0',
  gasUsed: '0x0',
  input: '0x',
  calls: [
    { type: 'CALL', from: SYSTEM, to: BOB, gas: '0x64', gasUsed: '0x32', input: '0x19494a17', value: '0x0' },
  ],
};

function blockOf(transactions: readonly Json[], members: Json = {}): Json {
  const numbers = { number: '0x8', timestamp: '0x1', gasUsed: '0x5208', difficulty: '0x0' };
  return { hash: BLOCK, parentHash: hash('b0'), miner: ALICE, ...numbers, transactions, ...members };
}

/** Converts the result of a tracer: one entry for each transaction, unless the node leaves some out. */
function traced(chainId: number, transactions: readonly Json[], results: readonly unknown[]) {
  const block = blockOf(transactions);
  const traces = results.map((result, i) => ({ txHash: transactions[i]?.['hash'], result }));
  return convertBlock(
    { header: parseHeader(block), block, traces, uncles: [] },
    'callTracer',
    chainRulesOf(chainId),
  );
}

/** Converts a result of `trace_block`. */
function listed(chainId: number, block: Json, traces: readonly Json[]) {
  const answers = { header: parseHeader(block), block, traces, uncles: [] };
  return convertBlock(answers, 'trace_block', chainRulesOf(chainId));
}

const reward = (rewardType: string, value: string, author = ALICE) => ({
  action: { author, rewardType, value },
  blockHash: BLOCK,
  blockNumber: 8,
  result: null,
  subtraces: 0,
  traceAddress: [],
  transactionHash: null,
  transactionPosition: null,
  type: 'reward',
});

describe('Gnosis', () => {
  it('keeps any number of external rewards, also under proof of stake, and drops those of zero', () => {
    const sent = [reward('external', '0x1'), reward('external', '0x2', BOB), reward('block', '0x0')];
    const { traces } = listed(GNOSIS, blockOf([]), sent);
    expect(traces).toEqual(sent.slice(0, 2));
  });

  it('has external rewards, which Ethereum has not', () => {
    expect(listed(MAINNET, blockOf([]), [reward('external', '0x1')]).traces).toEqual([]);
    const mined = blockOf([], { difficulty: '0x1' });
    expect(() => listed(MAINNET, mined, [reward('external', '0x1')])).toThrow('reward 0 is external 0x1');
  });
});

describe('Polygon', () => {
  const both = [PAYMENT, STATE_SYNC];

  it('has the frames of a state sync, whose root does not match the transaction', () => {
    const { traces, lacksFrames } = traced(POLYGON, both, [PAID, SYNCED]);
    expect(traces.map(({ transactionPosition }) => transactionPosition)).toEqual([0, 1, 1]);
    expect(traces[1]).toMatchObject({
      action: { from: SYSTEM, to: STATE_RECEIVER, gas: '0x0' },
      result: { gasUsed: '0x0' },
      transactionHash: STATE_SYNC.hash,
    });
    expect(lacksFrames).toBe(false);
  });

  it('accepts a block in which the node does not trace the state sync, and reports it', () => {
    const { traces, lacksFrames } = traced(POLYGON, both, [PAID]);
    expect(traces.map(({ transactionHash }) => transactionHash)).toEqual([PAYMENT.hash]);
    expect(lacksFrames).toBe(true);
  });

  it.each([POLYGON, OTHER])('on chain %i, no other transaction may lack frames', (chainId) => {
    const transactions = chainId === POLYGON ? [STATE_SYNC, PAYMENT] : both;
    expect(() => traced(chainId, transactions, [PAID])).toThrow('1 results for 2 transactions');
  });

  it('rejects a root frame that is neither that of the transaction nor that of a state sync', () => {
    const forged = { ...SYNCED, from: ALICE };
    expect(() => traced(POLYGON, both, [PAID, forged])).toThrow(
      /root frame of transaction .* different from/,
    );
    expect(() => traced(POLYGON, [PAYMENT], [{ ...SYNCED, calls: [] }])).toThrow('different from');
  });

  it('accepts traces of trace_block with and without the state sync', () => {
    const { traces } = traced(POLYGON, both, [PAID, SYNCED]);
    const block = blockOf(both);
    expect(listed(POLYGON, block, structuredClone(traces) as unknown as Json[])).toMatchObject({
      lacksFrames: false,
    });
    const without = structuredClone(traces.slice(0, 1)) as unknown as Json[];
    expect(listed(POLYGON, block, without)).toMatchObject({ lacksFrames: true });
    expect(() => listed(OTHER, block, structuredClone(without))).toThrow('transaction 1 of 2 has no traces');
  });
});

describe('Arbitrum', () => {
  const transfer = {
    type: 'INVALID',
    from: ZERO,
    to: BOB,
    gas: '0x0',
    gasUsed: '0x0',
    input: '0x',
    value: '0xbf67',
  };
  const root = {
    ...PAID,
    beforeEVMTransfers: [{ purpose: 'feePayment', from: ALICE, to: null, value: '0x9' }],
  };

  it('has transfers of ArbOS as calls with their value, and none for those outside of frames', () => {
    const { traces } = traced(ARBITRUM, [PAYMENT], [{ ...root, calls: [transfer], afterEVMTransfers: [] }]);
    expect(traces).toHaveLength(2);
    expect(traces[1]).toMatchObject({
      type: 'call',
      action: { callType: 'call', from: ZERO, to: BOB, gas: '0x0', input: '0x', value: '0xbf67' },
      result: { gasUsed: '0x0', output: '0x' },
      traceAddress: [0],
    });
  });

  it('is the only network with frames of type INVALID', () => {
    expect(() => traced(OTHER, [PAYMENT], [{ ...root, calls: [transfer] }])).toThrow(/type.*INVALID/);
  });
});

describe('the OP Stack', () => {
  const stop = { from: ZERO, gas: '0x0', gasUsed: '0x520c', input: '0x', type: 'STOP' };
  const second = { ...PAYMENT, hash: hash('03') };

  it('has no frames for a root of type STOP', () => {
    const { traces, lacksFrames } = traced(OPTIMISM, [PAYMENT, second], [stop, PAID]);
    expect(traces).toHaveLength(1);
    expect(traces[0]).toMatchObject({ transactionHash: second.hash, transactionPosition: 1 });
    expect(lacksFrames).toBe(false);
  });

  it('is the only network with roots of type STOP, and only roots have this type', () => {
    expect(() => traced(OTHER, [PAYMENT], [stop])).toThrow(/type.*STOP/);
    expect(() => traced(OPTIMISM, [PAYMENT], [{ ...PAID, calls: [stop] }])).toThrow(/type.*STOP/);
  });
});

it('zkSync Era cannot be indexed', () => {
  expect(chainRulesOf(324).unsupported).toContain('bootloader');
});
