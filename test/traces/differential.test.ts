import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceFilter } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { inCi } from '../support/search.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ask, askAll, type FilterAnswer } from './support/ask.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, type Query, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

/** A failure is repeated with the seed that it prints: `FLOODGATE_TEST_SEED=… npx vitest run test/traces/differential`. */
const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 20);
/** With the 8 blocks of the script: more than 64, so that the chain has final blocks, and reorganisations stay above. */
const RANDOM_BLOCKS = 92;
const QUERIES = inCi(2_000, { elsewhere: 500 });
/** One of each kind at least: of the same length, shorter, longer. */
const REORGANISATIONS = inCi(8, { elsewhere: 3 });
const QUERIES_AFTER_EACH = inCi(250, { elsewhere: 100 });
const REORGANISATIONS_UNDER_LOAD = inCi(5, { elsewhere: 2 });
const ASKING_AT_ONCE = 8;
const ASKING_REST_MS = 5;

describe(`trace_filter against a plain filter over what the node answers, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let anvil: Anvil;
  let floodgate: Floodgate;
  /** What was final once stays so for Floodgate, though anvil counts from a head that it took back. */
  let finalized = 0;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: SEED });
    await traffic.run({ steps: SCRIPT_BLOCKS + RANDOM_BLOCKS });
    floodgate = await startFloodgate({
      upstream: anvil.url,
      args: ['--index-from', '0', '--index-poll-interval-ms', '50'],
    });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
  });

  /** The node's chain, once the index holds it to its last block. */
  async function indexedChain(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    finalized = Math.max(finalized, chain.tags.finalized);
    await until('the index has the last block of the node', async () => {
      const { result } = await ask(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  async function compare(chain: NodeChain, count: number): Promise<number> {
    const addresses = addressesOf(chain.traces);
    const queries = Array.from({ length: count }, () => randomQuery(random, chain, addresses));
    const answers = await askAll(
      floodgate.gatewayUrl,
      queries.map(({ asked }) => asked),
    );
    let found = 0;
    queries.forEach((query, i) => {
      found += expectPlain(chain, query, answers[i]);
    });
    return found;
  }

  it(`is the same for ${QUERIES} random filters on a chain of every shape of trace`, async () => {
    const chain = await indexedChain();
    expect(new Set(chain.traces.map(shapeOf))).toEqual(SHAPES);
    const found = await compare(chain, QUERIES);
    // The filters are no empty exercise.
    expect(found).toBeGreaterThan(10 * QUERIES);
  });

  it('is the same after each of several reorganisations, the chain shortened and lengthened too', async () => {
    for (let i = 0; i < REORGANISATIONS; i++) {
      const depth = i === 0 ? 1 : i === 1 ? 20 : random.between(1, 20);
      const blocks = Math.max(
        1,
        depth + (i % 3 === 0 ? 0 : i % 3 === 1 ? -random.below(depth) : random.below(6)),
      );
      await rebuildTail(anvil.url, { depth, blocks, seed: SEED + 1 + i });
      await compare(await indexedChain(), QUERIES_AFTER_EACH);
    }
  });

  it('answers from one chain, the old or the new one, while blocks are replaced', async () => {
    let answered = 0;
    for (let i = 0; i < REORGANISATIONS_UNDER_LOAD; i++) {
      const before = await indexedChain();
      const wholeTail = { fromBlock: before.head - 24, toBlock: before.head };
      const seen: FilterAnswer[] = [];
      let replaced = false;
      const asking = Promise.all(
        Array.from({ length: ASKING_AT_ONCE }, async () => {
          while (!replaced) {
            seen.push(...(await askAll(floodgate.gatewayUrl, tailQueries(wholeTail))));
            // The node that replaces its blocks needs the processor, too.
            await pause(ASKING_REST_MS);
          }
        }),
      );
      // Once as deep as it can be: down to the block behind the finalized one.
      const depth = i === 0 ? before.head - finalized : random.between(1, 20);
      await rebuildTail(anvil.url, { depth, blocks: depth + 2, seed: SEED + 100 + i });
      const after = await indexedChain();
      replaced = true;
      await asking;

      const [old, now] = [before, after].map((chain) =>
        tailQueries(wholeTail).map((asked) => JSON.stringify(plainFilter(chain.traces, meant(asked)))),
      );
      for (const { id, result, error } of seen) {
        // While the chain is shorter than the range its end is past the head; no part of it is given then.
        if (error !== undefined) {
          expect([-32602, -32001], error.message).toContain(error.code);
          continue;
        }
        answered++;
        const answer = JSON.stringify(result);
        if (answer !== old?.[id] && answer !== now?.[id]) expect(result).toEqual(JSON.parse(now?.[id] ?? ''));
      }
    }
    expect(answered).toBeGreaterThan(REORGANISATIONS_UNDER_LOAD * 2);
  });
});

interface TailQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly after: number;
}

/** The pages of all traces of a range: together they hold traces of each of its blocks. */
const tailQueries = (range: { fromBlock: number; toBlock: number }): TailQuery[] =>
  [0, 100, 200, 300, 400].map((after) => ({ ...range, after }));

const meant = (asked: TailQuery): TraceFilter => ({
  ...asked,
  fromAddresses: [],
  toAddresses: [],
  mode: 'intersection',
  count: 200,
});

/** Checks an answer to the letter, order of members included; resolves with how many traces it has. */
function expectPlain(chain: NodeChain, { asked, meant }: Query, answer: FilterAnswer | undefined): number {
  const expected = plainFilter(chain.traces, meant);
  if (JSON.stringify(answer?.result) !== JSON.stringify(expected))
    expect({ asked, answer: answer?.error ?? answer?.result }).toEqual({ asked, answer: expected });
  return expected.length;
}

type Shaped = NodeChain['traces'][number];

function shapeOf(trace: Shaped): string {
  const failure = trace.type !== 'reward' && trace.error !== undefined ? ', failed' : '';
  if (trace.type === 'call') return trace.action.callType + failure;
  if (trace.type === 'create') return (trace.action.creationMethod ?? 'create') + failure;
  return trace.type + failure;
}

/** Every kind of frame that Ethereum has had since its proof of stake, each failed too where it can fail. */
const SHAPES = new Set(
  ['call', 'delegatecall', 'staticcall', 'callcode', 'create', 'create2'].flatMap((kind) => [
    kind,
    `${kind}, failed`,
  ]),
).add('suicide');
