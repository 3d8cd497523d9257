import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, MAX_COUNT, type Trace } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { delayedStore } from '../support/delayedStore.ts';
import { plainAnswer, referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, callTraceFilterAll, withoutId } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 21);
/** With the scripted blocks more than 64, so that the chain has final blocks. */
const RANDOM_BLOCKS = 67;
const QUERIES = 200;
const REORGANISATIONS = 4;
const TAIL_BLOCKS = 16;
const ASKING_AT_ONCE = 4;

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}
interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Runs the server on an index with asynchronous reads, like a remote store. */
describe(`an index with asynchronous reads, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let anvil: Anvil;
  let server: Awaited<ReturnType<typeof startInProcess>>;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: SEED });
    await traffic.run({ steps: SCRIPT_BLOCKS + RANDOM_BLOCKS });
    server = await startInProcess(
      { upstream: [anvil.url], 'index.from': '0', 'index.pollIntervalMs': '50' },
      { openTraceStore: (folder, options) => delayedStore(openTraceStore(folder, options), random) },
    );
  });
  afterAll(async () => {
    await server?.stop();
    await anvil?.stop();
  });

  async function indexedChain(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    await until('the last block of the node to be indexed', async () => {
      const { result } = await callTraceFilter(server.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  async function askEach(calls: readonly Call[]): Promise<Answer[]> {
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(server.gatewayUrl, { method: 'POST', headers, body });
    return (await response.json()) as Answer[]; // a batch returns a list
  }

  it(`returns the results of a plain filter for ${QUERIES} random trace_filter calls`, async () => {
    const chain = await indexedChain();
    const addresses = addressesOf(chain.traces);
    const queries = Array.from({ length: QUERIES }, () => randomQuery(random, chain, addresses));
    const answers = await callTraceFilterAll(
      server.gatewayUrl,
      queries.map(({ asked }) => asked),
    );
    queries.forEach(({ asked, meant }, i) => {
      const answer = answers[i];
      expect({ asked, answer: answer && withoutId(answer) }).toEqual({
        asked,
        answer: plainAnswer(chain.traces, meant),
      });
    });
    // Results of single requests are sent from the buffer that they were written to.
    for (const { asked, meant } of queries.slice(0, 20))
      expect(withoutId(await callTraceFilter(server.gatewayUrl, asked))).toEqual(
        plainAnswer(chain.traces, meant),
      );
  });

  it('returns results of either the old or the new chain from every method during reorganisations', async () => {
    const seen = new Map<string, number>();
    for (let i = 0; i < REORGANISATIONS; i++) {
      const before = await indexedChain();
      const calls = callsOf(before);
      const answers: Answer[] = [];
      let isReplaced = false;
      const asking = Promise.all(
        Array.from({ length: ASKING_AT_ONCE }, async () => {
          do answers.push(...(await askEach(calls)));
          while (!isReplaced);
        }),
      );
      const depth = random.between(1, TAIL_BLOCKS);
      await rebuildTail(anvil.url, { depth, blocks: depth + 2, seed: SEED + 100 + i });
      const after = await indexedChain();
      isReplaced = true;
      await asking;
      answers.push(...(await askEach(calls)));
      for (const { id, result, error } of answers) {
        const call = calls[id];
        if (call === undefined) throw new Error(`no call has id ${id}`);
        if (error !== undefined) {
          expect([-32602, -32001], `${call.method}: ${error.message}`).toContain(error.code);
          continue;
        }
        seen.set(call.method, (seen.get(call.method) ?? 0) + 1);
        const expected = [before, after].map((chain) => plainResult(chain, call));
        expect(expected, JSON.stringify(call)).toContainEqual(result);
      }
    }
    for (const method of ['trace_filter', 'trace_block', 'trace_transaction', 'trace_get'])
      expect(seen.get(method), method).toBeGreaterThan(REORGANISATIONS);
  });
});

/** Calls about the last blocks of a chain, which are replaced. */
function callsOf({ head, traces }: NodeChain): Call[] {
  const fromBlock = head - TAIL_BLOCKS;
  const tail = traces.filter(({ blockNumber }) => blockNumber > fromBlock);
  const [first, last] = [tail[0], tail.at(-1)];
  return [
    ...[0, 100, 200].map((after) => ({
      method: 'trace_filter',
      params: [{ fromBlock, toBlock: head, after, count: MAX_COUNT }],
    })),
    ...[head, head - 3, fromBlock].map((block) => ({ method: 'trace_block', params: [block] })),
    ...[first, last].flatMap((trace) => [
      { method: 'trace_transaction', params: [trace?.transactionHash] },
      { method: 'trace_get', params: [trace?.transactionHash, trace?.traceAddress] },
    ]),
  ];
}

/** Computes the expected result of a call by a scan over all traces of the chain. */
function plainResult({ traces }: NodeChain, { method, params }: Call): unknown {
  const [first, second] = params;
  if (method === 'trace_filter')
    return referenceFilter(traces, {
      fromAddresses: [],
      toAddresses: [],
      mode: 'union',
      count: MAX_COUNT,
      ...(first as { fromBlock: number; toBlock: number; after: number }), // created by callsOf
    });
  if (method === 'trace_block') return traces.filter(({ blockNumber }) => blockNumber === first);
  const ofHash = traces.filter(({ transactionHash }) => transactionHash === (first as Hash)); // created by callsOf
  if (method === 'trace_transaction') return ofHash.length === 0 ? null : ofHash;
  const isAsked = ({ traceAddress }: Trace): boolean => traceAddress.join() === String(second);
  return ofHash.find(isAsked) ?? null;
}
