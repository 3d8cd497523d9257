import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkBlock,
  chooseTraceMethod,
  forkScheduleOf,
  fromCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
} from '../../src/ethereum/traces/convert/index.ts';
import type { Trace } from '../../src/ethereum/traces/index.ts';
import {
  type Anvil,
  connect,
  createTraffic,
  type Node,
  SCRIPT_BLOCKS,
  startAnvil,
} from '../support/anvil.ts';

const CALL_TRACER = { tracer: 'callTracer' };
const FLAT_CALL_TRACER = { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } };

describe('anvil, sent transactions whose traces have every shape', () => {
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

  it('gives through callTracer the traces that it gives through trace_block, but for refunded gas of roots', async () => {
    let traces = 0;
    let roots = 0;
    let exactRoots = 0;
    for (const number of numbers) {
      const [block, parity, nested] = await node.batch<unknown>([
        ['eth_getBlockByNumber', number, true],
        ['trace_block', number],
        ['debug_traceBlockByNumber', number, CALL_TRACER],
      ]);
      const header = parseHeader(block);
      const expected = parseTraceBlock(parity);
      const converted = fromCallTracer(
        { header, transactions: parseTransactions(block) },
        nested,
        forkScheduleOf(31_337),
      );
      checkBlock(header, expected);
      checkBlock(header, converted);
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
    // Refunds, the floor of transactions with much data, and authorizations hide the rest.
    expect(exactRoots / roots).toBeGreaterThan(0.8);
  });

  it('is found to offer trace_block and callTracer, and to answer nothing for flatCallTracer', async () => {
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
    expect(remarks.join('\n')).toContain('flatCallTracer: answers something else');
  });
});

const isRootFrame = (trace: Trace) => trace.type !== 'reward' && trace.traceAddress.length === 0;

function rootGasUsed(trace: Trace | undefined): number | undefined {
  if (!trace || !isRootFrame(trace) || !trace.result) return undefined;
  return Number(trace.result.gasUsed);
}

const withoutRootGas = (trace: Trace) =>
  isRootFrame(trace) && trace.result ? { ...trace, result: { ...trace.result, gasUsed: '' } } : trace;
