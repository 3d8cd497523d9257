import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseForkConfig } from './chains/forkConfig.ts';
import { BlockMismatchError } from './check/blockMismatchError.ts';
import { checkBlock } from './check/checkBlock.ts';
import { chooseTraceMethod } from './chooseTraceMethod.ts';
import { anyBlock, blockOf, flat, nested, numbered, rules } from './frameTree.arbitrary.ts';
import { fromCallTracer } from './geth/fromCallTracer.ts';
import { fromFlatCallTracer } from './geth/fromFlatCallTracer.ts';
import { TraceFormatError } from './json/traceFormatError.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';
import { parseTransactions } from './parseTransactions.ts';

/** Replaces one element of a value, selected by the path; returns the junk itself if the path ends. */
function spoil(value: unknown, path: readonly number[], junk: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return junk;
  const keys = Object.keys(value);
  if (keys.length === 0) return junk;
  const key = keys[step % keys.length] ?? '';
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value };
  const members = copy as Record<string, unknown>; // an object or an array; array keys are handled as text
  const changed = spoil(members[key], rest, junk);
  if (changed === undefined) delete members[key];
  else members[key] = changed;
  return copy;
}

describe('malformed responses', () => {
  const anyJunk = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, '0x', '0x0', '0xg', '0X1', -1, 1.5, 1e300, '', [], {}, [[]], 'CALL', 'reward'),
    fc.constantFrom('0x'.padEnd(70_000, 'f'), '0x'.padEnd(70_001, 'é'), 'x'.repeat(100_000)),
  );

  /** Runs `read`: it may only throw the two known errors, with short and plain messages. */
  function bearsIt(read: () => unknown): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof TraceFormatError || error instanceof BlockMismatchError)) throw error;
      expect(error.message.length).toBeLessThan(700);
      expect(error.message).toMatch(/^[\x20-\x7e]*$/);
    }
  }

  it('yield traces or one of the two errors if any element is replaced by junk', () => {
    fc.assert(
      fc.property(anyBlock, fc.array(fc.nat({ max: 40 }), { maxLength: 7 }), anyJunk, (roots, path, junk) => {
        const idOf = numbered(roots);
        const { header, transactions } = blockOf(roots, idOf);
        const nestedAnswer = spoil(
          roots.map((root) => ({ result: nested(root, idOf) })),
          path,
          junk,
        );
        const flatAnswer = spoil(
          roots.map((root, i) => ({ result: flat(root, i, idOf) })),
          path,
          junk,
        );
        const list = spoil(
          roots.flatMap((root, i) => flat(root, i, idOf)),
          path,
          junk,
        );
        bearsIt(() => checkBlock(header, fromCallTracer({ header, transactions }, nestedAnswer, rules)));
        bearsIt(() => checkBlock(header, fromFlatCallTracer({ header, transactions }, flatAnswer, rules)));
        bearsIt(() => checkBlock(header, parseTraceBlock(list)));
        const steps = roots.map(() => ({ result: { structLogs: [{ gas: 1 }] } }));
        const firstSteps = spoil(steps, path, junk);
        const answer = roots.map((root) => ({ result: nested(root, idOf) }));
        bearsIt(() => fromCallTracer({ header, transactions, firstSteps }, answer, rules));
        bearsIt(() =>
          chooseTraceMethod({
            traceBlock: { result: list },
            callTracer: { result: nestedAnswer },
            flatCallTracer: { result: flatAnswer },
          }),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('yield a value or one of the two errors if the header, transactions or result is junk', () => {
    fc.assert(
      fc.property(anyJunk, (junk) => {
        bearsIt(() => parseHeader(junk));
        bearsIt(() => parseTransactions(junk));
        bearsIt(() => parseForkConfig({ current: junk, next: null }));
        bearsIt(() =>
          parseForkConfig({ current: { precompiles: junk, systemContracts: {}, activationTime: 1 } }),
        );
        bearsIt(() => parseTraceBlock(junk));
        bearsIt(() => parseTraceBlock([junk]));
      }),
      { numRuns: 500 },
    );
  });
});
