import type { Address, TraceFilter } from '../../src/ethereum/traces/index.ts';
import { referenceFilter } from '../../test/support/plainFilter.ts';
import type { Random } from '../../test/support/random.ts';
import type { Program } from './program.ts';
import type { StableChain } from './stableChain.ts';
import { REQUEST_TIMEOUT_MS, repeat, rest, Tally } from './tally.ts';

const FILTER_CLIENTS = 4;
const CALL_CLIENTS = 4;
const BETWEEN_REQUESTS_MS = 20;
const MAX_RANGE_BLOCKS = 800;

interface Load {
  readonly program: Program;
  readonly chain: StableChain;
  readonly random: Random;
  readonly isFinished: () => boolean;
}

/** Sends trace_filter requests for stable blocks, and compares the results with a plain filter. */
export function askFilters({ program, chain, random, isFinished }: Load): {
  tally: Tally;
  ended: Promise<unknown>;
} {
  const tally = new Tally('trace_filter');
  const step = async (): Promise<void> => {
    await rest(BETWEEN_REQUESTS_MS);
    const filter = randomFilter(random, chain);
    const answer = await call(program.gatewayUrl, 'trace_filter', [asked(filter)]);
    if (answer.error !== undefined) return void tally.failed++;
    const expected = referenceFilter(chain.traces, filter);
    if (sameJson(answer.result, expected)) tally.right++;
    else if (!(await isRightLater(program, ['trace_filter', [asked(filter)]], { tally, expected })))
      tally.isWrong('the result differs from a plain filter', { filter, answer: answer.result, expected });
  };
  return { tally, ended: inParallel(FILTER_CLIENTS, () => repeat(isFinished, tally, step)) };
}

/** Requests blocks and traces by number and hash, and compares them with the node's results. */
export function askBlocks({ program, chain, random, isFinished }: Load): {
  tally: Tally;
  ended: Promise<unknown>;
} {
  const tally = new Tally('gateway calls');
  const step = async (): Promise<void> => {
    await rest(BETWEEN_REQUESTS_MS);
    const number = random.below(chain.blocks.length);
    const block = chain.blocks[number];
    if (block === undefined) return;
    const traces = chain.tracesOf(number);
    const hash = block.transactions[0];
    const [method, params, expected] = random.pick<readonly [string, readonly unknown[], unknown]>([
      ['eth_getBlockByNumber', [`0x${number.toString(16)}`, false], block],
      ['eth_getBlockByHash', [block.hash, false], block],
      ['trace_block', [number], traces],
      ...(hash === undefined
        ? []
        : ([
            ['trace_transaction', [hash], traces.filter(({ transactionHash }) => transactionHash === hash)],
          ] as const)),
    ]);
    const answer = await call(program.gatewayUrl, method, params);
    if (answer.error !== undefined) return void tally.failed++;
    if (sameJson(answer.result, expected)) tally.right++;
    else if (!(await isRightLater(program, [method, params], { tally, expected })))
      tally.isWrong('the result differs from the node', { method, params, answer: answer.result, expected });
  };
  return { tally, ended: inParallel(CALL_CLIENTS, () => repeat(isFinished, tally, step)) };
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** An index with a lag returns an earlier state of the chain; it must catch up within this time. */
const CATCH_UP_MS = 120_000;
const CATCH_UP_STEP_MS = 200;

async function isRightLater(
  { gatewayUrl }: Program,
  [method, params]: readonly [string, readonly unknown[]],
  { tally, expected }: { readonly tally: Tally; readonly expected: unknown },
): Promise<boolean> {
  const started = performance.now();
  while (performance.now() < started + CATCH_UP_MS) {
    await rest(CATCH_UP_STEP_MS);
    const { result } = await call(gatewayUrl, method, params).catch((): RpcAnswer => ({}));
    if (!sameJson(result, expected)) continue;
    tally.isStale(performance.now() - started);
    return true;
  }
  return false;
}

const inParallel = (clients: number, run: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: clients }, run));

function randomFilter(random: Random, chain: StableChain): TraceFilter {
  const addresses = [...chain.addresses] as Address[]; // as they are in traces
  const some = (): Address[] =>
    random.chance(0.5) ? [] : Array.from({ length: random.between(1, 4) }, () => random.pick(addresses));
  const toBlock = random.below(chain.head + 1);
  const fromBlock = Math.max(0, toBlock - random.below(random.pick([5, 50, MAX_RANGE_BLOCKS])));
  return {
    fromBlock,
    toBlock,
    fromAddresses: some(),
    toAddresses: some(),
    mode: random.pick(['intersection', 'union'] as const),
    after: random.chance(0.6) ? 0 : random.below(300),
    count: random.chance(0.5) ? 200 : random.below(201),
  };
}

/** Returns the filter in the form of the request. */
export const asked = ({ fromAddresses, toAddresses, ...rest }: TraceFilter): object => ({
  ...rest,
  fromAddress: fromAddresses,
  toAddress: toAddresses,
});

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export async function call(url: string, method: string, params: readonly unknown[]): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  return (await response.json()) as RpcAnswer; // compared with the expected result in any case
}
