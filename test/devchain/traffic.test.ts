import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallTrace, Trace } from '../../src/ethereum/traces/index.ts';
import {
  type Anvil,
  buildTransferChain,
  connect,
  createTraffic,
  type Node,
  reorganise,
  SCRIPT_BLOCKS,
  startAnvil,
  type TrafficBlock,
} from '../support/anvil.ts';

/** A fixed genesis time: without it, equal seeds would produce different block hashes. */
const FIXED = { extraArgs: ['--timestamp', '1700000000'] } as const;
const BLOCK_SECONDS = 12;

const anvils: Anvil[] = [];
afterAll(() => Promise.all(anvils.map((anvil) => anvil.stop())));

async function startNode(): Promise<{ url: string; node: Node }> {
  const anvil = await startAnvil(FIXED);
  anvils.push(anvil);
  return { url: anvil.url, node: connect(anvil.url) };
}

const tag = (number: number) => `0x${number.toString(16)}`;
const tracesOf = (node: Node, number: number) => node.call<Trace[]>('trace_block', tag(number));
const heightOf = async (node: Node) => Number(await node.call('eth_blockNumber'));
const hashesOf = async (node: Node, from: number, to: number) => {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const blocks = await node.batch<{ hash: string }>(
    numbers.map((number) => ['eth_getBlockByNumber', tag(number), false]),
  );
  return blocks.map(({ hash }) => hash);
};

describe('the scripted traffic', () => {
  /** Traces of each scripted transaction, by its description. */
  const shown = new Map<string, Trace[]>();
  const script: TrafficBlock[] = [];
  let node: Node;

  beforeAll(async () => {
    const started = await startNode();
    node = started.node;
    const traffic = await createTraffic({ url: started.url, seed: 1, blockSeconds: BLOCK_SECONDS });
    script.push(...(await traffic.run({ steps: SCRIPT_BLOCKS })));
    for (const block of script) {
      const traces = await tracesOf(node, block.number);
      block.about.forEach((about, position) => {
        shown.set(
          about,
          traces.filter(({ transactionPosition }) => transactionPosition === position),
        );
      });
    }
  });

  test('has at most 12 blocks', () => {
    expect(SCRIPT_BLOCKS).toBeLessThanOrEqual(12);
  });

  test('mines all transactions in the listed blocks and order, each with a root frame', async () => {
    for (const { number, transactions } of script) {
      const block = await node.call<{ transactions: string[] }>('eth_getBlockByNumber', tag(number), false);
      const roots = (await tracesOf(node, number)).filter(({ traceAddress }) => traceAddress.length === 0);
      expect(block.transactions).toHaveLength(transactions.length);
      expect(roots.map(({ transactionHash }) => transactionHash)).toEqual(block.transactions);
    }
  });

  /** Formats a trace in one line: depth, type, kind of call or creation, error. */
  const line = (trace: Trace): string => {
    const kind =
      trace.type === 'call'
        ? trace.action.callType
        : trace.type === 'create'
          ? trace.action.creationMethod
          : '';
    const error = 'error' in trace ? ` ! ${trace.error}` : '';
    return `${trace.traceAddress.length} ${trace.type} ${kind}`.trim() + error;
  };
  const value = (trace: Trace): bigint =>
    trace.type === 'suicide' ? BigInt(trace.action.balance) : BigInt(trace.action.value);
  const isCall = (trace: Trace): trace is CallTrace => trace.type === 'call';

  test.each<[shape: string, transaction: string, lines: readonly string[]]>([
    [
      'nested calls',
      'calls side by side and nested',
      ['0 call call', '1 call call', '2 call call', '2 call call', '1 call call'],
    ],
    [
      'delegatecall',
      'delegatecall, with the value of its caller',
      [
        '0 call call',
        '1 call delegatecall',
        '2 call call',
        '1 call call',
        '2 call delegatecall',
        '3 call call',
      ],
    ],
    ['staticcall', 'staticcall', ['0 call call', '1 call staticcall', '2 call call']],
    ['callcode', 'callcode, with value and without', ['0 call call', '1 call callcode', '2 call callcode']],
    ['create', 'create', ['0 call call', '1 create create', '1 call call']],
    ['create2', 'create2', ['0 call call', '1 create create2']],
    [
      'a create within a create',
      'a create within a create',
      ['0 call call', '1 create create', '2 create create', '2 call call'],
    ],
    [
      'a failed create, reverted',
      'a failed create: reverted with data',
      ['0 call call', '1 create create ! Reverted', '2 call call', '1 create create2 ! Reverted'],
    ],
    [
      'a failed create, invalid opcode',
      'a failed create: invalid opcode',
      ['0 call call', '1 create create ! Bad instruction'],
    ],
    [
      'a failed create, out of gas',
      'a failed create: out of gas',
      ['0 call call', '1 create create ! Out of gas'],
    ],
    [
      'a failed create, no gas for its code',
      'a failed create: no gas left to store its code',
      ['0 call call', '1 create create ! Out of gas'],
    ],
    [
      'a failed create, its code begins with 0xef',
      'a failed create: its code begins with 0xef',
      ['0 call call', '1 create create ! CreateContractStartingWithEF'],
    ],
    [
      'a failed create, its code is too large',
      'a failed create: larger than code may be',
      ['0 call call', '1 create create ! CreateContractSizeLimit'],
    ],
    [
      'a failed create, the address is taken',
      'a failed create2: the address is taken',
      ['0 call call', '1 create create2 ! CreateCollision'],
    ],
    [
      'delegatecall inside create',
      'a delegatecall within a create',
      ['0 call call', '1 create create', '2 call delegatecall', '3 call call'],
    ],
    [
      'create inside a failed call',
      'a create within a call that fails',
      ['0 call call', '1 call call ! Reverted', '2 create create'],
    ],
    [
      'a transaction reverted with data',
      'a transaction reverted with data',
      ['0 call call ! Reverted', '1 call call'],
    ],
    [
      'a call reverted with data',
      'a call reverted with data, the transaction goes on',
      ['0 call call', '1 call call ! Reverted'],
    ],
    ['out of gas', 'a transaction out of gas', ['0 call call ! Out of gas']],
    ['out of gas in a call', 'a call out of gas', ['0 call call', '1 call call ! Out of gas', '2 call call']],
    ['an invalid opcode', 'a call with an invalid opcode', ['0 call call', '1 call call ! Bad instruction']],
    [
      'a bad jump',
      'a bad jump',
      ['0 call call ! Bad jump destination', '1 call call ! Bad jump destination'],
    ],
    [
      'stack underflow',
      'a stack underflow',
      ['0 call call ! StackUnderflow', '1 call call ! StackUnderflow'],
    ],
    [
      'a change within a staticcall',
      'a change within a staticcall',
      ['0 call call', '1 call staticcall ! StateChangeDuringStaticCall'],
    ],
    ['a plain transfer', 'a transfer (legacy)', ['0 call call']],
    [
      'a call with too little balance',
      'a call with more value than there is',
      ['0 call call', '1 call call ! Insufficient balance for transfer'],
    ],
    ['a call to itself', 'a call to itself', ['0 call call', '1 call call']],
    [
      'calls to an address without code',
      'calls to an address without code',
      ['0 call call', '1 call call', '1 call delegatecall', '1 call staticcall', '1 call callcode'],
    ],
    [
      'precompiles without value',
      'precompiles without value',
      [
        '0 call call',
        '1 call call',
        '1 call staticcall',
        '1 call delegatecall',
        '1 call callcode',
        '1 call call',
      ],
    ],
    [
      'precompiles with value',
      'precompiles with value',
      [
        '0 call call',
        '1 call call',
        '1 call callcode',
        '1 call call',
        '2 call delegatecall',
        '2 call staticcall',
      ],
    ],
    [
      'selfdestruct of a contract of the same transaction',
      'selfdestruct of a contract created in the same transaction',
      ['0 call call', '1 create create', '1 call call', '2 suicide'],
    ],
    [
      'selfdestruct of an older contract',
      'selfdestruct of an older contract with a balance',
      ['0 call call', '1 call call', '2 suicide'],
    ],
    [
      'selfdestruct in a constructor',
      'selfdestruct in the constructor',
      ['0 call call', '1 create create', '2 suicide'],
    ],
    [
      'selfdestruct to itself',
      'selfdestruct to itself of a contract created in the same transaction',
      ['0 call call', '1 create create', '1 call call', '2 suicide'],
    ],
    ['a transaction creates a contract', 'a transaction creates a contract (legacy)', ['0 create create']],
    [
      'a transaction fails to create a contract',
      'a transaction fails to create a contract: reverted with data',
      ['0 create create ! Reverted'],
    ],
    [
      'an account with the code of a contract',
      'a call to an account that took on code',
      ['0 call call', '1 call call', '2 call call'],
    ],
  ])('contains %s', (_, transaction, lines) => {
    expect(shown.get(transaction)?.map(line)).toEqual(lines);
  });

  test('contains 20 nested calls', () => {
    const depths = (shown.get('twenty calls deep') ?? []).map(({ traceAddress }) => traceAddress.length);
    expect(depths).toEqual(Array.from({ length: 21 }, (_, depth) => depth));
  });

  test('contains a selfdestruct with a balance and one without', () => {
    const balance = (about: string) =>
      shown
        .get(about)
        ?.filter(({ type }) => type === 'suicide')
        .map(value);
    expect(balance('selfdestruct of an older contract with a balance')?.[0]).toBeGreaterThan(0n);
    expect(balance('selfdestruct of an older contract without a balance')).toEqual([0n]);
  });

  test('contains precompile calls that transfer value, inherit value and have none', () => {
    const calls = (shown.get('precompiles with value') ?? []).filter(isCall);
    expect(calls.map((trace) => [trace.action.callType, value(trace)])).toEqual([
      ['call', 0n],
      ['call', 1n],
      ['callcode', 2n],
      ['call', 3n],
      ['delegatecall', 3n],
      ['staticcall', 0n],
    ]);
  });

  test('contains the data of a reverted call and of a reverted creation', () => {
    const [reverted] = shown.get('a transaction reverted with data') ?? [];
    const [uncreated] = shown.get('a transaction fails to create a contract: reverted with data') ?? [];
    expect(reverted?.result).toMatchObject({ output: '0x776879' });
    expect(uncreated?.result).toMatchObject({ code: '0x6e6f' });
  });

  test('contains transactions of types 0, 1, 2 and 4', async () => {
    const types = new Set<string>();
    for (const { number } of script) {
      const block = await node.call<{ transactions: { type: string }[] }>(
        'eth_getBlockByNumber',
        tag(number),
        true,
      );
      for (const { type } of block.transactions) types.add(type);
    }
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x4']);
  });
});

describe('the generated traffic', () => {
  const STEPS = SCRIPT_BLOCKS + 20;

  test('has identical block hashes on two nodes for one seed, and different ones for another seed', async () => {
    const run = async (seed: number) => {
      const { url } = await startNode();
      const traffic = await createTraffic({ url, seed, blockSeconds: BLOCK_SECONDS });
      return (await traffic.run({ steps: STEPS })).map(({ hash }) => hash);
    };
    const [one, same, other] = await Promise.all([run(5), run(5), run(6)]);
    expect(same).toEqual(one);
    expect(other.slice(0, SCRIPT_BLOCKS)).toEqual(one.slice(0, SCRIPT_BLOCKS));
    expect(other[SCRIPT_BLOCKS]).not.toEqual(one[SCRIPT_BLOCKS]);
  });

  test('continues when a new generator takes over, during and after the script', async () => {
    const { url, node } = await startNode();
    const options = { url, seed: 5, blockSeconds: BLOCK_SECONDS };
    const uninterrupted = await startNode();
    const whole = await createTraffic({ ...options, url: uninterrupted.url });
    for (let done = 0; done < STEPS; done += 4) await (await createTraffic(options)).run({ steps: 4 });
    await whole.run({ steps: STEPS });
    expect(await hashesOf(node, 1, STEPS)).toEqual(await hashesOf(uninterrupted.node, 1, STEPS));
  });

  test('mines every transaction that it sends, and eventually every kind of call and creation', async () => {
    const { url, node } = await startNode();
    const blocks = await (await createTraffic({ url, seed: 9 })).run({ steps: SCRIPT_BLOCKS + 60 });
    const kinds = new Set<string | undefined>();
    for (const { number, transactions } of blocks) {
      const traces = await tracesOf(node, number);
      expect(traces.filter(({ traceAddress }) => traceAddress.length === 0)).toHaveLength(
        transactions.length,
      );
      if (number <= SCRIPT_BLOCKS) continue;
      for (const trace of traces) {
        if (trace.type === 'call') kinds.add(trace.action.callType);
        else kinds.add(trace.type === 'create' ? trace.action.creationMethod : trace.type);
      }
    }
    expect([...kinds].sort()).toEqual([
      'call',
      'callcode',
      'create',
      'create2',
      'delegatecall',
      'staticcall',
      'suicide',
    ]);
  });
});

describe('reorganise', () => {
  test.each([1, 5, 20])('replaces the last %i blocks with their hashes and traces', async (depth) => {
    const { url, node } = await startNode();
    await (await createTraffic({ url, seed: 1, blockSeconds: BLOCK_SECONDS })).run({ steps: 30 });
    const before = await hashesOf(node, 0, 30);
    const oldTraces = await tracesOf(node, 30);

    const blocks = await reorganise({ url, depth, seed: 2 });

    expect(await heightOf(node)).toBe(30);
    const after = await hashesOf(node, 0, 30);
    expect(after.slice(0, 31 - depth)).toEqual(before.slice(0, 31 - depth));
    expect(after.slice(31 - depth)).toEqual(blocks.map(({ hash }) => hash));
    expect(after.filter((hash) => before.includes(hash))).toHaveLength(31 - depth);
    for (const hash of before.slice(31 - depth))
      expect(await node.call('eth_getBlockByHash', hash, false)).toBeNull();
    for (const { number, hash, transactions } of blocks) {
      const traces = await tracesOf(node, number);
      expect(new Set(traces.map(({ blockHash }) => blockHash))).toEqual(new Set([hash]));
      expect(traces.filter(({ traceAddress }) => traceAddress.length === 0)).toHaveLength(
        transactions.length,
      );
    }
    expect(await node.call('trace_transaction', oldTraces[0]?.transactionHash)).toEqual([]);
  });

  test('rejects a depth above the length of the chain', async () => {
    const { url } = await startNode();
    await expect(reorganise({ url, depth: 1, seed: 1 })).rejects.toThrow(/depth is 1/);
  });
});

test('buildTransferChain fills blocks with transfers, 40 % of them to the hot address', async () => {
  const { url, node } = await startNode();
  const chain = await buildTransferChain({ url, blocks: 5, transactionsPerBlock: 60, seed: 1 });
  expect([chain.fromBlock, chain.toBlock]).toEqual([1, 5]);
  const traces: Trace[] = [];
  for (let number = 1; number <= 5; number++) traces.push(...(await tracesOf(node, number)));
  expect(traces).toHaveLength(300);
  const received = traces.filter((trace) => trace.type === 'call' && trace.action.to === chain.hotAddress);
  expect(received.length).toBeGreaterThan(90);
  expect(received.length).toBeLessThan(150);
});
