import { describe, expect, it } from 'vitest';
import { checkBlock, parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import type { BlockHeader, Hash, Trace } from '../../src/ethereum/traces/index.ts';
import { erigonExchanges, recordedFile, recordedFiles, sortedKeys } from './recorded.ts';

type Recorded = Record<string, unknown> & { action: Record<string, unknown>; result?: unknown };

/** Erigon's error messages, and Parity's. */
const CANONICAL_ERRORS: Record<string, string> = {
  'out of gas': 'Out of gas',
  'invalid opcode: INVALID': 'Bad instruction',
  'invalid jump destination': 'Bad jump destination',
  'contract creation code storage out of gas': 'Out of gas',
  'gas uint64 overflow': 'Out of gas',
};

/** Returns the recorded answer after the differences that Floodgate normalises; nothing else may change. */
function normalised(recorded: readonly Recorded[]): string {
  const kept = recorded.filter(({ action }) => action['rewardType'] !== 'withdrawal');
  return JSON.stringify(
    kept.map((trace) => {
      const even = { ...trace };
      if (trace['type'] === 'reward')
        Object.assign(even, { transactionHash: null, transactionPosition: null });
      if (trace['error'] !== undefined && even.result === undefined) even.result = null;
      const error = CANONICAL_ERRORS[String(trace['error'])];
      if (error !== undefined) even['error'] = error;
      return sortedKeys(even);
    }),
  );
}

/** Returns the header that a list of traces implies; `checkBlock` uses it to check order, roots and trees. */
function impliedHeader(traces: readonly Trace[]): BlockHeader {
  const [first] = traces;
  if (!first) throw new Error('no traces');
  const hashes = traces.map((trace) => trace.transactionHash).filter((hash): hash is Hash => hash !== null);
  return {
    number: first.blockNumber,
    hash: first.blockHash,
    parentHash: first.blockHash,
    timestamp: 0,
    transactionHashes: [...new Set(hashes)],
  };
}

function expectCanonical(file: string, recorded: readonly Recorded[]): number {
  const expected = normalised(recorded);
  const traces = parseTraceBlock(structuredClone(recorded));
  expect(JSON.stringify(traces), file).toBe(expected);
  if (traces.length > 0) checkBlock(impliedHeader(traces), traces);
  return traces.length;
}

/** Returns complete blocks: answers to trace_block, and answers to trace_filter without addresses, split by block. */
function erigonBlocks(): Array<{ file: string; traces: Recorded[] }> {
  const blocks = erigonExchanges('trace_block').map(({ file, result }) => ({
    file,
    traces: result,
  }));
  for (const { file, params, result } of erigonExchanges('trace_filter')) {
    const filter = params[0] as Record<string, unknown>; // recorded requests have one filter object
    if (!Array.isArray(result) || ['fromAddress', 'toAddress', 'after', 'count'].some((key) => key in filter))
      continue;
    const numbers = new Set((result as Recorded[]).map((trace) => trace['blockNumber']));
    for (const number of numbers)
      blocks.push({ file, traces: result.filter((trace: Recorded) => trace['blockNumber'] === number) });
  }
  return blocks as Array<{ file: string; traces: Recorded[] }>; // recorded results are lists of traces
}

describe('trace_block of recorded mainnet blocks', () => {
  it("preserves Erigon's answers except for error texts, withdrawals and the null members of rewards", () => {
    let traces = 0;
    const blocks = erigonBlocks().filter((block) => Array.isArray(block.traces));
    for (const block of blocks) traces += expectCanonical(block.file, block.traces);
    expect(blocks.length).toBeGreaterThan(40);
    expect(traces).toBeGreaterThan(9_000);
  });

  it("preserves Erigon's answers to trace_transaction except for the same differences", () => {
    let transactions = 0;
    for (const { file, result } of erigonExchanges('trace_transaction')) {
      if (!Array.isArray(result)) continue;
      expect(JSON.stringify(parseTraceBlock(structuredClone(result))), file).toBe(normalised(result));
      transactions++;
    }
    expect(transactions).toBeGreaterThan(40);
  });

  it("preserves Parity's answers", () => {
    let traces = 0;
    for (const { file, json } of recordedFiles('ethereum-etl/blocks', 'web3_response.trace_block')) {
      const { result } = json as { result?: Recorded[] };
      if (result) traces += expectCanonical(file, result);
    }
    expect(traces).toBe(19);
  });

  it.for(['2191709', '13191781', '15630274'])(
    'preserves block %s of safe-eth-py except for the null members',
    (number) => {
      // The recorded file is a plain list of traces.
      const traces = recordedFile('safe-eth-py/trace_block', `trace_block_${number}_mock`) as Recorded[];
      expect(expectCanonical(number, traces)).toBe(traces.length);
    },
  );
});
