import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseTraceMethod } from '../../src/ethereum/traces/convert/index.ts';
import {
  BlockMismatchError,
  blockTraces,
  type Trace,
  TraceFormatError,
} from '../../src/exports/traces/index.ts';
import {
  type Anvil,
  connect,
  createTraffic,
  type Node,
  SCRIPT_BLOCKS,
  startAnvil,
} from '../support/anvil.ts';

const CHAIN_ID = 31_337;
const CALL_TRACER = { tracer: 'callTracer' };
const FLAT_CALL_TRACER = { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } };

describe('anvil with transactions whose traces have every shape', () => {
  let anvil: Anvil;
  let node: Node;
  let numbers: string[];

  beforeAll(async () => {
    anvil = await startAnvil();
    node = connect(anvil.url);
    const traffic = await createTraffic({ url: anvil.url, seed: 4 });
    const blocks = await traffic.run({ steps: SCRIPT_BLOCKS + 30 });
    numbers = blocks.map(({ number }) => `0x${number.toString(16)}`);
  });
  afterAll(() => anvil?.stop());

  it('returns the same traces through callTracer and trace_block, except for refunded gas of root frames', async () => {
    let traces = 0;
    let roots = 0;
    let exactRoots = 0;
    for (const number of numbers) {
      const [block, parity, nested] = await node.batch<unknown>([
        ['eth_getBlockByNumber', number, true],
        ['trace_block', number],
        ['debug_traceBlockByNumber', number, CALL_TRACER],
      ]);
      const expected = blockTraces({ block, traces: parity }, { method: 'trace_block', chainId: CHAIN_ID });
      const converted = blockTraces({ block, traces: nested }, { method: 'callTracer', chainId: CHAIN_ID });
      expect(converted.map(withoutRootGas)).toEqual(expected.map(withoutRootGas));
      converted.forEach((trace, i) => {
        const [used, exactly] = [rootGasUsed(trace), rootGasUsed(expected[i])];
        if (used === undefined || exactly === undefined) return;
        expect(used).toBeLessThanOrEqual(exactly);
        roots++;
        if (used === exactly) exactRoots++;
      });
      traces += converted.length;
    }
    expect(traces).toBeGreaterThan(300);
    // The other root frames differ by refunds, the floor price of calldata, and authorizations.
    expect(exactRoots / roots).toBeGreaterThan(0.8);
  });

  it('has its traces rejected for another block, if they are incomplete, and as another format', async () => {
    const [first, second] = await node.batch<unknown>(
      numbers.slice(0, 2).map((number) => ['eth_getBlockByNumber', number, true]),
    );
    const [parity] = await node.batch<unknown[]>([['trace_block', numbers[0]]]);
    const read = (block: unknown, traces: unknown, method: 'trace_block' | 'callTracer' = 'trace_block') =>
      blockTraces({ block, traces: structuredClone(traces) }, { method, chainId: CHAIN_ID });
    expect(read(first, parity).length).toBeGreaterThan(1);
    expect(() => read(second, parity)).toThrow(BlockMismatchError);
    expect(() => read(first, parity?.slice(0, -1))).toThrow(BlockMismatchError);
    expect(() => read(first, parity, 'callTracer')).toThrow(BlockMismatchError);
    expect(() => read(first, { traces: parity })).toThrow(TraceFormatError);
    expect(() => read(null, parity)).toThrow(TraceFormatError);
    // A mined block of mainnet has at least one reward.
    const mined = { ...(first as object), difficulty: '0x1', number: '0x1', transactions: [] };
    const answers = { block: mined, traces: [] };
    expect(() => blockTraces(answers, { method: 'trace_block', chainId: 1 })).toThrow('reward is missing');
  });

  it('is detected to support trace_block and callTracer, but not flatCallTracer', async () => {
    const [number] = numbers;
    const [traceBlock, callTracer, flatCallTracer] = await node.batch<unknown>([
      ['trace_block', number],
      ['debug_traceBlockByNumber', number, CALL_TRACER],
      ['debug_traceBlockByNumber', number, FLAT_CALL_TRACER],
    ]);
    const answers = { callTracer: { result: callTracer }, flatCallTracer: { result: flatCallTracer } };
    expect(chooseTraceMethod({ ...answers, traceBlock: { result: traceBlock } }).method).toBe('trace_block');
    const { method, remarks } = chooseTraceMethod(answers);
    expect(method).toBe('callTracer');
    expect(remarks.join('\n')).toContain('flatCallTracer: unexpected result');
  });
});

const isRootFrame = (trace: Trace) => trace.type !== 'reward' && trace.traceAddress.length === 0;

function rootGasUsed(trace: Trace | undefined): number | undefined {
  if (!trace || !isRootFrame(trace) || !trace.result) return undefined;
  return Number(trace.result.gasUsed);
}

const withoutRootGas = (trace: Trace) =>
  isRootFrame(trace) && trace.result ? { ...trace, result: { ...trace.result, gasUsed: '' } } : trace;
