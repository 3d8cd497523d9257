import { describe, expect, it } from 'vitest';
import type { Trace } from '../index.ts';
import type { ChainRules } from './chains/chainRules.ts';
import { chainRulesOf } from './chains/chainRulesOf.ts';
import { checkBlock } from './check/checkBlock.ts';
import { fromCallTracer } from './geth/fromCallTracer.ts';
import { fromFlatCallTracer } from './geth/fromFlatCallTracer.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTransactions } from './parseTransactions.ts';

type Json = Record<string, unknown>;

const BLOCK = `0x${'b1'.repeat(32)}`;
const TX = `0x${'7a'.repeat(32)}`;
const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;
const precompile = (low: string) => `0x${low.padStart(40, '0')}`;
const hex = (number: number) => `0x${number.toString(16)}`;

const LIMIT = 100_000;
const root: Json = {
  type: 'CALL',
  from: ALICE,
  to: BOB,
  gas: hex(LIMIT),
  gasUsed: hex(21_500),
  input: '0x',
  value: '0x5',
};
const child: Json = { ...root, from: BOB, gas: '0x1000', gasUsed: '0x64', value: '0x0' };

const anyRules = chainRulesOf(31_337);
const underByzantium: ChainRules = { ...anyRules, starts: { byzantium: { block: 0 } } };

/** Returns the traces of a block with one transaction for each root frame. */
function traced(
  roots: readonly Json[],
  {
    rules = anyRules,
    transaction = {},
    block = {},
  }: { rules?: ChainRules; transaction?: Json; block?: Json } = {},
): Trace[] {
  const hashes = roots.map((_, i) => TX.slice(0, -1) + i);
  return fromCallTracer(
    { header: headerOf(hashes, block), transactions: transactionsOf(roots, hashes, transaction) },
    roots.map((result, i) => ({ txHash: hashes[i], result })),
    rules,
  );
}

function headerOf(transactions: readonly string[], block: Json = {}) {
  const numbers = { number: '0x7', timestamp: '0x1', gasLimit: '0x0', gasUsed: '0xffffff' };
  return parseHeader({ hash: BLOCK, parentHash: BLOCK, ...numbers, transactions, ...block });
}

function transactionsOf(roots: readonly Json[], hashes: readonly unknown[], transaction: Json = {}) {
  const list = roots.map(({ from, to, type, value, input }, i) => ({
    hash: hashes[i],
    from,
    to: type === 'CREATE' ? null : to,
    value,
    input,
    gas: hex(LIMIT),
    ...transaction,
  }));
  return parseTransactions({ transactions: list });
}

/** Returns a root frame in the form of flatCallTracer. */
function flatOf({ type, from, to, value, input, gas, gasUsed }: Json): Json {
  const isCreation = type === 'CREATE';
  const own = isCreation
    ? { creationMethod: 'create', init: input }
    : { callType: String(type).toLowerCase(), to, input };
  return {
    action: { ...own, from, gas, value },
    result: { gasUsed, ...(isCreation ? { address: to, code: '0x' } : { output: '0x' }) },
    blockHash: BLOCK,
    blockNumber: 7,
    subtraces: 0,
    traceAddress: [],
    transactionHash: TX,
    transactionPosition: 0,
    type: isCreation ? 'create' : 'call',
  };
}

const first = (traces: readonly Trace[]) => traces[0] as Trace & { action: Json; result: Json };

describe('the gas of a root frame', () => {
  it('is the gas limit minus the intrinsic gas, and gasUsed excludes the intrinsic gas too', () => {
    expect(first(traced([root]))).toMatchObject({
      action: { gas: hex(LIMIT - 21_000) },
      result: { gasUsed: hex(500) },
    });
  });

  it('has gasUsed 0 for a plain transfer', () => {
    expect(first(traced([{ ...root, gasUsed: hex(21_000) }])).result).toEqual({
      gasUsed: '0x0',
      output: '0x',
    });
  });

  it('is unchanged if the node reports another value than the limit, because it has subtracted the intrinsic gas', () => {
    expect(first(traced([{ ...root, gas: '0x1234' }])).action.gas).toBe('0x1234');
  });

  it('has at least the gasUsed of its children if a refund hides the rest', () => {
    const refunded = { ...root, gasUsed: hex(21_050), calls: [child, { ...child, type: 'STATICCALL' }] };
    expect(first(traced([refunded])).result.gasUsed).toBe(hex(200));
  });

  it('includes all gas of a failed child, and nothing for a child that never ran', () => {
    const failed = { ...child, gas: hex(7_000), error: 'out of gas' };
    const neverRan = { ...child, gas: hex(9_000), error: 'max call depth exceeded' };
    expect(first(traced([{ ...root, calls: [failed, neverRan] }])).result.gasUsed).toBe(hex(7_000));
  });

  it('has the gasUsed of its children if the transaction paid the floor (EIP-7623)', () => {
    // 100 bytes of data: intrinsic gas 21000 + 1600, floor 21000 + 4000.
    const data = `0x${'11'.repeat(100)}`;
    const floored = { ...root, input: data, gasUsed: hex(25_000), calls: [child] };
    expect(first(traced([floored])).result.gasUsed).toBe(hex(100));
    expect(first(traced([{ ...floored, gasUsed: hex(25_001) }])).result.gasUsed).toBe(hex(2_401));
    expect(first(traced([floored], { rules: underByzantium })).result.gasUsed).toBe(hex(100));
  });

  it('is derived from cumulative gas if a node reports the gas of the block up to each transaction', () => {
    const roots = [21_000, 42_500, 65_000].map((gasUsed) => ({ ...root, gasUsed: hex(gasUsed) }));
    const used = traced(roots, { block: { gasUsed: hex(65_000) } }).map((trace) =>
      trace.type === 'call' ? trace.result?.gasUsed : undefined,
    );
    expect(used).toEqual([hex(0), hex(500), hex(1_500)]);
  });
});

describe('fromCallTracer', () => {
  it('distinguishes CREATE2 from CREATE, and returns no address for a failed creation', () => {
    const made = { ...child, type: 'CREATE2', to: BOB, input: '0x60', output: '0x61' };
    const { to: _, ...nowhere } = { ...made, type: 'CREATE', error: 'execution reverted' };
    const failed = { ...nowhere, error: 'contract address collision', output: undefined };
    expect(traced([{ ...root, calls: [made, nowhere, failed] }]).slice(1)).toMatchObject([
      { action: { creationMethod: 'create2', init: '0x60' }, result: { address: BOB, code: '0x61' } },
      {
        action: { creationMethod: 'create' },
        error: 'Reverted',
        result: { gasUsed: '0x64', output: '0x61' },
      },
      { error: 'Contract address collision', result: null },
    ]);
  });

  it('returns contract, balance and refund address of a SELFDESTRUCT', () => {
    const destruction = {
      type: 'SELFDESTRUCT',
      from: BOB,
      to: ALICE,
      value: '0x9',
      gas: '0x0',
      gasUsed: '0x0',
    };
    const [, trace] = traced([{ ...root, calls: [destruction] }]);
    expect(trace).toMatchObject({
      type: 'suicide',
      action: { address: BOB, balance: '0x9', refundAddress: ALICE },
      result: null,
    });
  });

  it('restores the addresses of a contract that destroys itself in its own favour, which revm omits', () => {
    const unnamed = { type: 'SELFDESTRUCT', from: precompile('0'), gas: '0x0', gasUsed: '0x0', input: '0x' };
    const delegated = { ...child, type: 'DELEGATECALL', from: BOB, to: ALICE, calls: [unnamed] };
    const suicides = traced([{ ...root, calls: [unnamed, delegated] }]).filter(
      ({ type }) => type === 'suicide',
    );
    expect(suicides.map(({ action }) => action)).toEqual([
      { address: BOB, balance: '0x0', refundAddress: BOB },
      { address: BOB, balance: '0x0', refundAddress: BOB },
    ]);
  });

  it('sets the inherited value of a delegatecall and zero for a staticcall if the node omits it', () => {
    const { value: _, ...without } = child;
    const inherited = { ...without, type: 'DELEGATECALL', calls: [{ ...without, type: 'DELEGATECALL' }] };
    const fixed = { ...without, type: 'STATICCALL', calls: [{ ...without, type: 'DELEGATECALL' }] };
    const carried = ({ action }: Trace) => ('value' in action ? action.value : undefined);
    const values = traced([{ ...root, calls: [inherited, fixed] }]).map(carried);
    expect(values).toEqual(['0x5', '0x5', '0x5', '0x0', '0x0']);
  });

  it('removes calls without value of the precompiled contracts of the fork, with any opcode', () => {
    const to = (low: string, more: Json = {}) => ({ ...child, to: precompile(low), ...more });
    const calls = [to('1'), to('2', { type: 'DELEGATECALL' }), to('9'), to('3', { value: '0x1' }), to('100')];
    const kept = (rules: ChainRules) =>
      traced([{ ...root, calls }], { rules }).map(({ action }) =>
        'to' in action ? Number(action.to) % 0x1000 : -1,
      );
    expect(kept(anyRules).slice(1)).toEqual([3]);
    expect(kept(underByzantium).slice(1)).toEqual([9, 3, 0x100]);
  });

  it('keeps a call of a precompile that the chain does not have yet', () => {
    const idle = { ...child, to: precompile('100'), gasUsed: '0x0' };
    expect(traced([{ ...root, calls: [idle] }])).toHaveLength(2);
  });

  it('removes a call of a precompile without gas if the forks of the chain are known, or if it returned something', () => {
    // BLAKE2b with 0 rounds uses no gas and returns 64 bytes; before Berlin, an empty MODEXP returns nothing.
    const blake2b = { ...child, to: precompile('9'), gasUsed: '0x0', output: `0x${'01'.repeat(64)}` };
    const modExp = { ...child, to: precompile('5'), gasUsed: '0x0' };
    const knownForks = { ...underByzantium, areForksAssumed: false };
    const frames = (call: Json, rules: ChainRules) => traced([{ ...root, calls: [call] }], { rules }).length;
    expect(frames(blake2b, anyRules)).toBe(1);
    expect(frames(blake2b, chainRulesOf(11_155_111))).toBe(1);
    expect(frames(modExp, anyRules)).toBe(2);
    expect(frames(modExp, knownForks)).toBe(1);
  });

  it('maps errors with different details to one name', () => {
    const errorOf = (error: string) =>
      (traced([{ ...root, calls: [{ ...child, error }] }])[1] as unknown as Json)['error'];
    expect(errorOf('max code size exceeded: code size 24577, limit 24576')).toBe('Out of gas');
    expect(errorOf('evm: max code size exceeded: code size 24577, limit 24576')).toBe('Out of gas');
    expect(errorOf('invalid opcode: opcode 0xfe not defined')).toBe('Bad instruction');
    expect(errorOf('out of gas: write protection')).toBe('Mutable Call In Static Context');
    expect(errorOf('max code: size')).toBe('max code: size');
  });

  it('names a failure of a precompiled contract Built-in failed', () => {
    const failed = { ...child, to: precompile('6'), value: '0x1', error: 'point is not on curve' };
    expect(traced([{ ...root, calls: [failed] }])[1]).toMatchObject({
      error: 'Built-in failed',
      result: null,
    });
  });
});

describe('a malformed tracer result', () => {
  const deep = (levels: number): Json => {
    let frame = { ...child };
    for (let i = 1; i < levels; i++) frame = { ...child, calls: [frame] };
    return { ...root, calls: [frame] };
  };

  it('is read to the maximum depth of Ethereum, and rejected beyond', () => {
    expect(traced([deep(1_025)])).toHaveLength(1_026);
    expect(() => traced([deep(1_026)])).toThrow(
      /transaction 0, frame \[(0,){20}\.\.\.\] must be at most 1025 deep/,
    );
  });

  it.each<[string, Json, RegExp]>([
    [
      'an unknown opcode',
      { ...root, type: 'JUMP' },
      /frame \[\]: type must be one of CALL, .*, the node sent "JUMP"/,
    ],
    ['a bad child', { ...root, calls: [child, { ...child, to: '0x' }] }, /frame \[1\]: to must be 20 bytes/],
    [
      'a creation without address',
      { ...root, type: 'CREATE', to: undefined },
      /frame \[\]: to must be 20 bytes/,
    ],
    ['calls that are not an array', { ...root, calls: {} }, /calls must be an array/],
    ['no gas used', { ...root, error: 'out of gas', gasUsed: undefined }, /gasUsed must be a number/],
    [
      'a destruction without members, as in the former JavaScript tracer',
      { ...root, calls: [{ type: 'SELFDESTRUCT' }] },
      /frame \[0\]: from must be 20 bytes/,
    ],
    ['no frame', {}, /type must be one of/],
  ])('is rejected for %s', (_, frame, message) => {
    expect(() =>
      traced([frame], { transaction: { from: ALICE, to: BOB, value: '0x0', input: '0x' } }),
    ).toThrow(message);
  });

  const header = headerOf([TX]);
  const transactions = transactionsOf([root], [TX]);
  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /debug_traceBlock must be an array of results/],
    ['too few results', [], /0 results for 1 transactions/],
    ['another transaction', [{ txHash: BLOCK, result: root }], /result 0 has transaction hash 0xb1/],
    ['a failure', [{ txHash: TX, error: 'execution timeout' }], /the node failed with "execution timeout"/],
    ['no result', [{ txHash: TX }], /must be a/],
    ['the empty object of anvil', [{ txHash: TX, result: {} }], /must be an array|type must be one of/],
  ])('is rejected from both tracers for %s', (_, answer, message) => {
    expect(() => fromCallTracer({ header, transactions }, answer, anyRules)).toThrow(message);
    expect(() => fromFlatCallTracer({ header, transactions }, answer, anyRules)).toThrow(message);
  });

  const carol = `0x${'c0'.repeat(20)}`;
  it.each<[string, Json, Json]>([
    ['from', { from: carol }, {}],
    ['to', { to: carol }, {}],
    ['value', { value: '0x6' }, {}],
    ['input', { input: '0x01' }, {}],
    ['type', { type: 'CREATE' }, {}],
    ['type', {}, { to: null }],
    ['type', { type: 'DELEGATECALL' }, {}],
  ])(
    'is rejected from both tracers if the %s of a root differs from its transaction',
    (member, frame, sent) => {
      const asked = transactionsOf([root], [TX], sent);
      const message = new RegExp(`the root frame of transaction 0 .* has a different ${member}`);
      const result = { ...root, ...frame };
      expect(() => fromCallTracer({ header, transactions: asked }, [{ result }], anyRules)).toThrow(message);
      expect(() =>
        fromFlatCallTracer({ header, transactions: asked }, [{ result: [flatOf(result)] }], anyRules),
      ).toThrow(message);
    },
  );

  it('is rejected if two results without hashes are swapped', () => {
    const roots = [root, { ...root, to: carol }];
    const hashes = [BLOCK, TX];
    const answer = roots.toReversed().map((result) => ({ result }));
    const convert = () =>
      fromCallTracer(
        { header: headerOf(hashes), transactions: transactionsOf(roots, hashes) },
        answer,
        anyRules,
      );
    expect(convert).toThrow(/root frame of transaction 0/);
  });

  it('is rejected for a block that lists a transaction twice', () => {
    const twice = { ...headerOf([TX, TX]) };
    const frames = fromCallTracer(
      { header: twice, transactions: transactionsOf([root, root], [TX, TX]) },
      [{ result: root }, { result: root }],
      anyRules,
    );
    expect(() => checkBlock(twice, frames)).toThrow(/lists a transaction twice/);
  });

  it('is rejected for a flat list without frames or with a reward', () => {
    const reward = {
      action: { author: ALICE, rewardType: 'block', value: '0x1' },
      blockHash: BLOCK,
      blockNumber: 7,
      type: 'reward',
    };
    for (const frames of [[], [reward]])
      expect(() => fromFlatCallTracer({ header, transactions }, [{ result: frames }], anyRules)).toThrow(
        /frame/,
      );
  });
});
