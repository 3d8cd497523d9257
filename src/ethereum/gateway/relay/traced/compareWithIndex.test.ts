import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyBlock,
  BLOCK,
  blockOf,
  type Frame,
  flat,
  hash,
  nested,
  numbered,
  rules,
  sentBlock,
} from '../../../traces/convert/frameTree.arbitrary.ts';
import { convertBlock } from '../../../traces/convert/index.ts';
import type { StoredBlock } from '../../../traces/index.ts';
import { type ComparedResult, compareWithIndex } from './compareWithIndex.ts';

const NUMBER = 9;
const TRACERS = ['callTracer', 'flatCallTracer'] as const;

/** An index with one block, and the results of both tracers for this block. */
function tracedBlock(roots: readonly Frame[]) {
  const idOf = numbered(roots);
  const { header } = blockOf(roots, idOf);
  const results = {
    callTracer: roots.map((root, i) => ({ txHash: hash(i), result: nested(root, idOf) })),
    flatCallTracer: roots.map((root, i) => ({ txHash: hash(i), result: flat(root, i, idOf) })),
  };
  const block = sentBlock(roots, idOf);
  const answers = { header, block, uncles: [], traces: structuredClone(results.callTracer) };
  const { traces } = convertBlock(answers, 'callTracer', rules);
  const json = (some: typeof traces) => Buffer.from(JSON.stringify(some));
  const stored = {
    number: NUMBER,
    hash: BLOCK,
    parentHash: BLOCK,
    timestamp: 1,
    traceCount: traces.length,
  } as StoredBlock; // hashes have the right form
  const store = {
    block: (number: number) => (number === NUMBER ? stored : undefined),
    blockTraces: (number: number) => (number === NUMBER ? json(traces) : undefined),
    transactionTraces: (wanted: string) =>
      json(traces.filter(({ transactionHash }) => transactionHash === wanted)),
  };
  const compare = (tracer: ComparedResult['tracer'], value: unknown, more: Partial<ComparedResult> = {}) =>
    compareWithIndex(store, '0x539', {
      blockNumber: NUMBER,
      tracer,
      value,
      bytes: Buffer.from(JSON.stringify(value) ?? ''),
      ...more,
    });
  return { results, compare };
}

/** Returns results with another member in the root frame of a transaction. */
function damaged(results: readonly { result: unknown }[], at: number): unknown {
  const copy = structuredClone(results);
  const { result } = copy[Math.floor(at * copy.length)] ?? {};
  const members = Array.isArray(result) ? result[0].action : result;
  const name = ['from', 'value', 'to', 'input', 'init'].find((one, i) => i >= (at * 7) % 4 && one in members);
  const value: string = members[name ?? 'from'];
  members[name ?? 'from'] =
    name === 'input' || name === 'init'
      ? `${value}77`
      : `${value.slice(0, -1)}${value.endsWith('5') ? '6' : '5'}`;
  return copy;
}

describe('the comparison of a result with the index', () => {
  it.each(TRACERS)('finds equal frames in the result of %s for any block, parsed or not', async (tracer) => {
    await fc.assert(
      fc.asyncProperty(anyBlock, async (roots) => {
        const { results, compare } = tracedBlock(roots);
        expect(await compare(tracer, results[tracer])).toBe('equal');
        const bytes = Buffer.from(JSON.stringify(results[tracer]));
        expect(await compare(tracer, undefined, { bytes })).toBe('equal');
        const [first] = results[tracer];
        expect(await compare(tracer, first?.result, { transactionHash: hash(0) })).toBe('equal');
      }),
      { numRuns: 50 },
    );
  });

  it.each(TRACERS)('finds another member in the result of %s', async (tracer) => {
    await fc.assert(
      fc.asyncProperty(anyBlock, fc.double({ min: 0, max: 0.999, noNaN: true }), async (roots, at) => {
        const { results, compare } = tracedBlock(roots);
        expect(await compare(tracer, damaged(results[tracer], at))).toBe('differs');
      }),
      { numRuns: 100 },
    );
  });

  it('finds missing, surplus and swapped transactions, and garbage', async () => {
    const frame: Frame = { opcode: 'CALL', value: 7, to: 0xabc, failure: 'none', children: [] };
    const { results, compare } = tracedBlock([frame, { ...frame, value: 0 }]);
    const { callTracer: all } = results;
    for (const value of [
      all.slice(1),
      [...all, all[0]],
      all.toReversed(),
      [],
      {},
      'x',
      [1, 2],
      [null, null],
      null,
    ])
      expect(await compare('callTracer', value), JSON.stringify(value)).toBe('differs');
    for (const bytes of [Buffer.from('[{'), Buffer.from('<html>')])
      expect(await compare('callTracer', undefined, { bytes })).toBe('differs');
  });

  it('reports transactions with an error, and blocks that the index lacks', async () => {
    const frame: Frame = { opcode: 'CALL', value: 7, to: 0xabc, failure: 'none', children: [] };
    const { results, compare } = tracedBlock([frame]);
    expect(await compare('callTracer', [{ txHash: hash(0), error: 'execution timeout' }])).toBe('failed');
    expect(await compare('callTracer', results.callTracer, { blockNumber: 8 })).toBe('unknown');
    expect(await compare('callTracer', results.callTracer, { blockHash: hash(77) })).toBe('unknown');
    expect(await compare('callTracer', results.callTracer, { blockHash: BLOCK })).toBe('equal');
  });
});
