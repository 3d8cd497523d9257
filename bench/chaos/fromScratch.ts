import type { Address, TraceFilter } from '../../src/ethereum/traces/index.ts';
import { referenceFilter } from '../../test/support/plainFilter.ts';
import { asked, call } from './gatewayLoad.ts';
import type { Program } from './program.ts';
import type { StableChain } from './stableChain.ts';
import { rest, Tally } from './tally.ts';

const PAGE = 200;
const RANGE_BLOCKS = 800;
const MAX_ADDRESSES = 60;
const FOLLOW_TIMEOUT_MS = 120_000;
const MAX_PAGES = 400;

/**
 * Compares two programs over the whole chain, page by page and by address: one that ran during all faults, and a new
 * one that indexed the same chain. Both must return the same as a plain filter over the node's traces.
 */
export async function compareIndexes(program: Program, scratch: Program, chain: StableChain): Promise<Tally> {
  const tally = new Tally('index against a new one');
  await Promise.all([program, scratch].map((one) => followed(one, chain)));
  for (const filter of filtersOver(chain)) {
    const expected = JSON.stringify(referenceFilter(chain.traces, filter));
    for (const one of [program, scratch]) {
      const { result, error } = await call(one.gatewayUrl, 'trace_filter', [asked(filter)]);
      if (JSON.stringify(result) === expected) tally.right++;
      else
        tally.isWrong(one === program ? 'the index differs' : 'the new index differs', {
          filter,
          error,
          result,
        });
    }
  }
  return tally;
}

/** Resolves when the index has the chain's last block. */
async function followed({ gatewayUrl }: Program, chain: StableChain): Promise<void> {
  const deadline = performance.now() + FOLLOW_TIMEOUT_MS;
  const last = chain.blocks.at(-1)?.hash;
  for (;;) {
    const { result } = await call(gatewayUrl, 'eth_getBlockByNumber', ['latest', false]);
    const { error } = await call(gatewayUrl, 'trace_block', [chain.head]);
    const head = (result as { hash?: string } | null | undefined)?.hash; // only compared
    if (head === last && error === undefined) return;
    if (performance.now() > deadline) throw new Error(`${gatewayUrl} did not follow the chain to ${last}`);
    await rest(200);
  }
}

function filtersOver({ head, traces, addresses }: StableChain): TraceFilter[] {
  const none = { fromAddresses: [], toAddresses: [], mode: 'intersection', after: 0, count: PAGE } as const;
  const ranges: { fromBlock: number; toBlock: number }[] = [];
  for (let fromBlock = 0; fromBlock <= head; fromBlock += RANGE_BLOCKS)
    ranges.push({ fromBlock, toBlock: Math.min(head, fromBlock + RANGE_BLOCKS - 1) });
  const some = [...addresses].slice(0, MAX_ADDRESSES) as Address[]; // as they are in traces
  return ranges.flatMap((range) => {
    const found = traces.filter(
      ({ blockNumber }) => blockNumber >= range.fromBlock && blockNumber <= range.toBlock,
    ).length;
    const pages = Math.min(MAX_PAGES, Math.ceil(found / PAGE) + 1);
    return [
      ...Array.from({ length: pages }, (_, i) => ({ ...none, ...range, after: i * PAGE })),
      ...some.flatMap((address) => [
        { ...none, ...range, fromAddresses: [address] },
        { ...none, ...range, toAddresses: [address] },
      ]),
    ];
  });
}
