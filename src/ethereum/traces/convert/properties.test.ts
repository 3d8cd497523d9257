import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Trace } from '../index.ts';
import { BlockMismatchError } from './check/blockMismatchError.ts';
import { checkBlock } from './check/checkBlock.ts';
import {
  anyBlock,
  blockOf,
  expected,
  type Frame,
  flat,
  hash,
  nested,
  numbered,
  placeOf,
  rules,
} from './frameTree.arbitrary.ts';
import { fromCallTracer } from './geth/fromCallTracer.ts';
import { fromFlatCallTracer } from './geth/fromFlatCallTracer.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';

/** Converts one block of random trees from all three sources. */
function allWays(roots: readonly Frame[]) {
  const idOf = numbered(roots);
  const { header, transactions } = blockOf(roots, idOf);
  const nestedAnswer = roots.map((root) => ({ result: nested(root, idOf) }));
  const flatAnswer = roots.map((root, i) => ({ txHash: hash(i), result: flat(root, i, idOf) }));
  return {
    header,
    expected: roots.flatMap((root) => expected(root, idOf)),
    traces: {
      callTracer: fromCallTracer({ header, transactions }, structuredClone(nestedAnswer), rules),
      flatCallTracer: fromFlatCallTracer({ header, transactions }, structuredClone(flatAnswer), rules),
      trace_block: parseTraceBlock(structuredClone(flatAnswer.flatMap(({ result }) => result))),
    },
  };
}

describe('a random tree of frames', () => {
  it('is converted from every source to the expected positions, without the frames that Parity hides', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const ways = allWays(roots);
        for (const [source, traces] of Object.entries(ways.traces)) {
          expect(traces.map(placeOf), source).toEqual(ways.expected);
          checkBlock(ways.header, traces);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is converted to identical traces from every source, except for gasUsed of roots', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const { traces } = allWays(roots);
        expect(traces.flatCallTracer).toEqual(traces.callTracer);
        expect(traces.trace_block.map(withoutRootGas)).toEqual(traces.callTracer.map(withoutRootGas));
      }),
      { numRuns: 200 },
    );
  });

  it('is unchanged when its serialised traces are parsed again', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const text = JSON.stringify(allWays(roots).traces.callTracer);
        expect(JSON.stringify(parseTraceBlock(JSON.parse(text)))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('is rejected by checkBlock if a frame is missing, doubled, moved or miscounted', () => {
    const anyDamage = fc.constantFrom('missing', 'doubled', 'moved', 'miscounted');
    fc.assert(
      fc.property(anyBlock, fc.nat(), anyDamage, (roots, seed, damage) => {
        const { header, traces } = allWays(roots);
        const good = traces.callTracer;
        const at = seed % good.length;
        const hurt = good[at];
        if (!hurt) return;
        const bad: Record<string, Trace[]> = {
          missing: good.toSpliced(at, 1),
          doubled: good.toSpliced(at, 0, hurt),
          moved: good.with(at, { ...hurt, traceAddress: [...hurt.traceAddress, 0] }),
          miscounted: good.with(at, { ...hurt, subtraces: hurt.subtraces + 1 }),
        };
        expect(() => checkBlock(header, bad[damage] ?? [])).toThrow(BlockMismatchError);
      }),
      { numRuns: 300 },
    );
  });
});

const withoutRootGas = (trace: Trace) =>
  trace.traceAddress.length === 0 && trace.result
    ? { ...trace, result: { ...trace.result, gasUsed: '' } }
    : trace;
