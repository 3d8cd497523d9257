import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Trace } from '../../src/traces/trace.ts';
import { type Anvil, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { type Geth, gethBinary, NO_GETH, startGeth } from '../support/geth.ts';
import { type SameTraffic, sameTraffic } from './sameTraffic.ts';

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

/** What anvil 1.7.1 answers wrongly, by what the transaction is about: see docs/decisions/development-chain.md. */
const WRONG_IN_ANVIL = new Set(['selfdestruct to itself of an older contract']);

const binary = gethBinary();

describe.skipIf(binary === undefined)(`anvil and geth, sent the same${binary ? '' : ` (${NO_GETH})`}`, () => {
  const nodes: (Anvil | Geth)[] = [];
  let same: SameTraffic;

  beforeAll(async () => {
    const [anvil, geth] = await Promise.all([startAnvil(), startGeth(binary ?? '')]);
    nodes.push(anvil, geth);
    same = await sameTraffic({ anvil, geth, seed: 1, steps: SCRIPT_BLOCKS + 40 });
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  test('give the same receipts', () => {
    const receipts = (blocks: SameTraffic['anvil'] | SameTraffic['geth']) =>
      blocks
        .flatMap((block) => block.receipts)
        .map(({ transactionHash, status, gasUsed, contractAddress }) => [
          same.about.get(transactionHash),
          { transactionHash, status, gasUsed, contractAddress },
        ]);
    expect(receipts(same.geth)).toEqual(receipts(same.anvil));
  });

  test('agree on every frame: its place, parties, value, gas, input and output', () => {
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
});

/** What both nodes say of a frame. The root's gas is not among it: geth counts what the transaction itself costs. */
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
  const to = failed ? undefined : trace.result?.address; // anvil names the address of a reverted creation, too
  const output = trace.result?.code;
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

/** A frame and all below it, in the order of traces, each with its path. */
function framesOf(frame: Frame, path: readonly number[] = []): [readonly number[], Frame][] {
  const below = (frame.calls ?? []).flatMap((call, index) => framesOf(call, [...path, index]));
  return [[path, frame], ...below];
}
