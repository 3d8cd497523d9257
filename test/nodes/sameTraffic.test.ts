import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chainRulesOf,
  checkBlock,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
} from '../../src/ethereum/traces/convert/index.ts';
import type { Trace } from '../../src/ethereum/traces/index.ts';
import { type Anvil, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { type Geth, gethBinary, NO_GETH, startGeth } from '../support/geth.ts';
import { type GethBlock, type IdenticalTraffic, sendIdenticalTraffic } from './sameTraffic.ts';

/** A frame of geth's callTracer. */
interface Frame {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly gas: string;
  readonly gasUsed: string;
  readonly input: string;
  readonly output?: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/** Descriptions of transactions that anvil 1.7.1 traces incorrectly (docs/internals/decisions/development-chain.md). */
const WRONG_IN_ANVIL = new Set(['selfdestruct to itself of an older contract']);

const binary = gethBinary();

describe.skipIf(binary === undefined)(
  `anvil and geth with identical transactions${binary ? '' : ` (${NO_GETH})`}`,
  () => {
    const nodes: (Anvil | Geth)[] = [];
    let same: IdenticalTraffic;

    beforeAll(async () => {
      const [anvil, geth] = await Promise.all([startAnvil(), startGeth(binary ?? '')]);
      nodes.push(anvil, geth);
      same = await sendIdenticalTraffic({ anvil, geth, seed: 1, steps: SCRIPT_BLOCKS + 40 });
    });
    afterAll(() => Promise.all(nodes.map((node) => node.stop())));

    test('return the same receipts', () => {
      const receipts = (blocks: IdenticalTraffic['anvil'] | IdenticalTraffic['geth']) =>
        blocks
          .flatMap((block) => block.receipts)
          .map(({ transactionHash, status, gasUsed, contractAddress }) => [
            same.about.get(transactionHash),
            { transactionHash, status, gasUsed, contractAddress },
          ]);
      expect(receipts(same.geth)).toEqual(receipts(same.anvil));
    });

    test('agree on the position, addresses, value, gas, input and output of every frame', () => {
      const anvil = same.anvil.flatMap(({ traceBlock }) => (traceBlock as Trace[]).map(ofTrace));
      const geth = same.geth.flatMap(({ block, callTracer }) =>
        callTracer.flatMap((answer, index) =>
          framesOf((answer as { result: Frame }).result).map(([path, frame]) =>
            ofFrame(frame, path, block.transactions[index]?.hash ?? ''),
          ),
        ),
      );
      expect(geth.length).toBeGreaterThan(500);
      const right = ({ transaction }: Comparable) => !WRONG_IN_ANVIL.has(same.about.get(transaction) ?? '');
      expect(geth.filter(right)).toEqual(anvil.filter(right));
    });

    describe.each([
      ['callTracer', fromCallTracer, ({ callTracer }: GethBlock) => callTracer],
      ['flatCallTracer', fromFlatCallTracer, ({ flatCallTracer }: GethBlock) => flatCallTracer],
    ] as const)("are indexed from anvil's trace_block and geth's %s", (_, convert, answerOf) => {
      let anvil: Trace[];
      let geth: Trace[];

      beforeAll(() => {
        anvil = same.anvil.flatMap(({ block, traceBlock }) => {
          const traces = parseTraceBlock(structuredClone(traceBlock));
          checkBlock(parseHeader(block), traces);
          return traces;
        });
        geth = same.geth.flatMap((answers) => {
          const header = parseHeader(answers.block);
          const answer = structuredClone(answerOf(answers));
          const traces = convert(
            { header, transactions: parseTransactions(answers.block) },
            answer,
            chainRulesOf(DEVELOPMENT_CHAIN),
          );
          checkBlock(header, traces);
          return traces;
        });
      });

      test('with the same traces except for block, gasUsed of root frames and error names', () => {
        const right = ({ transactionHash }: Trace) =>
          !WRONG_IN_ANVIL.has(same.about.get(transactionHash ?? '') ?? '');
        expect(geth.filter(right).map(bare)).toEqual(anvil.filter(right).map(bare));
      });

      test('with exact gasUsed of root frames, and never too high with refunds or the calldata floor', () => {
        const receipts = new Map(
          same.anvil.flatMap((block) => block.receipts).map((receipt) => [receipt.transactionHash, receipt]),
        );
        const limits = new Map(
          same.anvil.flatMap(({ block }) => block.transactions).map(({ hash, gas }) => [hash, gas]),
        );
        const ofGeth = new Map(geth.filter(isRoot).map((root) => [root.transactionHash, gasUsed(root)]));
        let exact = 0;
        for (const root of anvil.filter(isRoot)) {
          const used = gasUsed(root);
          const converted = ofGeth.get(root.transactionHash);
          if (used === undefined || converted === undefined) continue; // a failed root frame has no gasUsed
          const hash = root.transactionHash ?? '';
          const intrinsic = BigInt(limits.get(hash) ?? 0) - BigInt(root.action.gas);
          const isPlain = BigInt(receipts.get(hash)?.gasUsed ?? 0) - intrinsic === used;
          if (isPlain) expect(converted).toBe(used);
          else expect(converted).toBeLessThanOrEqual(used);
          if (isPlain) exact++;
        }
        expect(exact).toBeGreaterThan(100);
      });

      test('with the same error names, except for errors that only one node distinguishes', () => {
        const names = new Map(anvil.map((trace) => [placeOf(trace), errorOf(trace)]));
        const differ = geth
          .map((trace) => [names.get(placeOf(trace)), errorOf(trace)] as const)
          .filter(([ofAnvil, ofGeth]) => ofAnvil !== ofGeth)
          .filter(([ofAnvil, ofGeth]) => !KNOWN_ERROR_DIFFERENCES.has(`${ofAnvil}, ${ofGeth}`))
          .filter(([ofAnvil]) => ofAnvil !== 'Built-in failed'); // geth reports the precompile's own error
        expect(differ).toEqual([]);
      });
    });
  },
);

/** Chain id of anvil, also used in the genesis of geth. */
const DEVELOPMENT_CHAIN = 31_337;

/** Errors of anvil and geth that differ: geth charges gas for a state change before it detects the static context. */
const KNOWN_ERROR_DIFFERENCES = new Set(['Mutable Call In Static Context, Out of gas']);

type Root = Extract<Trace, { readonly type: 'call' | 'create' }>;
const isRoot = (trace: Trace): trace is Root =>
  (trace.type === 'call' || trace.type === 'create') && trace.traceAddress.length === 0;
const gasUsed = (root: Root) => (root.result ? BigInt(root.result.gasUsed) : undefined);
const errorOf = (trace: Trace) => ('error' in trace ? trace.error : undefined);
const placeOf = ({ transactionHash, traceAddress }: Trace) => `${transactionHash} ${traceAddress.join(' ')}`;

/** Removes the members that differ between the nodes: block, error name and gasUsed of a root frame. */
function bare(trace: Trace): object {
  const { blockHash, blockNumber, transactionPosition, ...rest } = trace;
  const failed = 'error' in trace ? { error: 'failed' } : {};
  const result = isRoot(trace) && trace.result ? { result: { ...trace.result, gasUsed: 'of a root' } } : {};
  return { ...rest, ...failed, ...result };
}

/** The members of a frame that both nodes report. Excludes the root's gas: geth includes the intrinsic gas. */
interface Comparable {
  readonly transaction: string;
  readonly path: readonly number[];
  readonly kind: string;
  readonly from: string;
  readonly to: string | undefined;
  readonly value: string;
  readonly input: string;
  readonly failed: boolean;
  readonly output: string | undefined;
  readonly gas: readonly (string | undefined)[];
}

function ofTrace(trace: Trace): Comparable {
  const { transactionHash, traceAddress: path } = trace;
  const failed = 'error' in trace;
  const common = { transaction: transactionHash ?? '', path, failed };
  if (trace.type === 'suicide') {
    const { address: from, refundAddress: to, balance: value } = trace.action;
    return { ...common, kind: 'SELFDESTRUCT', from, to, value, input: '0x', output: undefined, gas: [] };
  }
  if (trace.type === 'reward') throw new Error('no rewards since the merge');
  const { from, value } = trace.action;
  const gas = path.length === 0 ? [] : [trace.action.gas, trace.result?.gasUsed];
  if (trace.type === 'call') {
    const { to, input, callType } = trace.action;
    const output = trace.result?.output;
    return { ...common, kind: callType.toUpperCase(), from, to, value, input, output, gas };
  }
  const { init, creationMethod = 'create' } = trace.action;
  // anvil reports a reverted creation with its intended address, and its output as code.
  const created = trace.result && 'code' in trace.result ? trace.result : undefined;
  const to = failed ? undefined : created?.address;
  const output = created?.code;
  return { ...common, kind: creationMethod.toUpperCase(), from, to, value, input: init, output, gas };
}

function ofFrame(frame: Frame, path: readonly number[], transaction: string): Comparable {
  const { type: kind, from, to, value = '0x0', error } = frame;
  const common = { transaction, path, kind, from, to, value, failed: error !== undefined };
  if (kind === 'SELFDESTRUCT') return { ...common, input: '0x', output: undefined, gas: [] };
  const hasResult = error === undefined || error === 'execution reverted';
  const output = hasResult ? (frame.output ?? '0x') : undefined;
  const gas = path.length === 0 ? [] : [frame.gas, hasResult ? frame.gasUsed : undefined];
  return { ...common, input: frame.input, output, gas };
}

/** Returns a frame and its descendants with their paths, in the order of traces. */
function framesOf(frame: Frame, path: readonly number[] = []): [readonly number[], Frame][] {
  const below = (frame.calls ?? []).flatMap((call, index) => framesOf(call, [...path, index]));
  return [[path, frame], ...below];
}
