import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_COUNT, type TraceFilter } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { plainAnswer, referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import {
  callTraceFilter,
  callTraceFilterAll,
  type FilterAnswer,
  withoutId,
} from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, type Query, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

/** Repeat a failure with the printed seed: `FLOODGATE_TEST_SEED=… npx vitest run test/traces/differential`. */
const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 20);
/** With the 8 scripted blocks enough for final blocks (64 below the head) and for reorganisations above them. */
const RANDOM_BLOCKS = 92;
const QUERIES = sizeInSearch(2_000, { ordinary: 500 });
/** At least one of each kind: a new branch of the same length, a shorter one and a longer one. */
const REORGANISATIONS = sizeInSearch(8, { ordinary: 3 });
const QUERIES_AFTER_EACH = sizeInSearch(250, { ordinary: 100 });
const REORGANISATIONS_UNDER_LOAD = sizeInSearch(5, { ordinary: 2 });
const ASKING_AT_ONCE = 8;
const ASKING_REST_MS = 5;

describe(`trace_filter compared with a plain filter over the node's traces, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let anvil: Anvil;
  let floodgate: Floodgate;
  /** Highest final block so far: Floodgate never lowers it, while anvil derives it from the current head. */
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

  /** Returns the node's chain after the index contains its last block. */
  async function indexedChain(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    finalized = Math.max(finalized, chain.tags.finalized);
    await until('the last block of the node to be indexed', async () => {
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  async function compare(chain: NodeChain, count: number): Promise<number> {
    const addresses = addressesOf(chain.traces);
    const queries = Array.from({ length: count }, () => randomQuery(random, chain, addresses));
    const answers = await callTraceFilterAll(
      floodgate.gatewayUrl,
      queries.map(({ asked }) => asked),
    );
    let found = 0;
    queries.forEach((query, i) => {
      found += expectPlain(chain, query, answers[i]);
    });
    return found;
  }

  it(`returns identical results for ${QUERIES} random filters on a chain with every kind of trace`, async () => {
    const chain = await indexedChain();
    expect(new Set(chain.traces.map(shapeOf))).toEqual(SHAPES);
    const found = await compare(chain, QUERIES);
    // The filters must match traces.
    expect(found).toBeGreaterThan(10 * QUERIES);
  });

  it('returns identical results after reorganisations that keep, shorten and lengthen the chain', async () => {
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

  it('returns results of either the old or the new chain during a reorganisation', async () => {
    let answered = 0;
    for (let i = 0; i < REORGANISATIONS_UNDER_LOAD; i++) {
      const before = await indexedChain();
      const wholeTail = { fromBlock: before.head - 24, toBlock: before.head };
      const seen: FilterAnswer[] = [];
      let replaced = false;
      const asking = Promise.all(
        Array.from({ length: ASKING_AT_ONCE }, async () => {
          while (!replaced) {
            seen.push(...(await callTraceFilterAll(floodgate.gatewayUrl, tailQueries(wholeTail))));
            // Leaves CPU time to the node that replaces its blocks.
            await pause(ASKING_REST_MS);
          }
        }),
      );
      // The first reorganisation has the maximum depth: down to the block after the finalized one.
      const depth = i === 0 ? before.head - finalized : random.between(1, 20);
      await rebuildTail(anvil.url, { depth, blocks: depth + 2, seed: SEED + 100 + i });
      const after = await indexedChain();
      replaced = true;
      await asking;

      const [old, now] = [before, after].map((chain) =>
        tailQueries(wholeTail).map((asked) => JSON.stringify(referenceFilter(chain.traces, meant(asked)))),
      );
      for (const { id, result, error } of seen) {
        // While the chain is shorter than the range, the response is an error and never a part of the range.
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
  readonly count: number;
}

/** Pages of all traces of a range; together they contain traces of each block. */
const tailQueries = (range: { fromBlock: number; toBlock: number }): TailQuery[] =>
  [0, 100, 200, 300, 400].map((after) => ({ ...range, after, count: MAX_COUNT }));

const meant = (asked: TailQuery): TraceFilter => ({
  ...asked,
  fromAddresses: [],
  toAddresses: [],
  mode: 'intersection',
});

/** Compares a response with the expected JSON, including the order of members; returns the number of traces. */
function expectPlain(chain: NodeChain, { asked, meant }: Query, answer: FilterAnswer | undefined): number {
  const expected = plainAnswer(chain.traces, meant);
  const given = answer && withoutId(answer);
  if (JSON.stringify(given) !== JSON.stringify(expected))
    expect({ asked, given }).toEqual({ asked, given: expected });
  return 'result' in expected ? expected.result.length : 0;
}

type Shaped = NodeChain['traces'][number];

function shapeOf(trace: Shaped): string {
  const failure = trace.type !== 'reward' && trace.error !== undefined ? ', failed' : '';
  if (trace.type === 'call') return trace.action.callType + failure;
  if (trace.type === 'create') return (trace.action.creationMethod ?? 'create') + failure;
  return trace.type + failure;
}

/** All kinds of frames since proof of stake, successful and (except selfdestruct) failed. */
const SHAPES = new Set(
  ['call', 'delegatecall', 'staticcall', 'callcode', 'create', 'create2'].flatMap((kind) => [
    kind,
    `${kind}, failed`,
  ]),
).add('suicide');
