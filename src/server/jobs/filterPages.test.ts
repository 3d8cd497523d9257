import { expect, test } from 'vitest';
import { lmdbTraces } from '../../../test/contract/lmdbTraces.ts';
import { Random } from '../../../test/support/random.ts';
import { blockOfTrees, randomTree } from '../../../test/support/syntheticTree.ts';
import { type Data, indexBlock, type Trace } from '../../ethereum/traces/index.ts';
import { filterPages } from './filterPages.ts';

const ALL = { fromAddresses: [], toAddresses: [], mode: 'union' } as const;

test('filterPages yields a block of 180 MB of JSON completely and in order, in pages of at most 64 MiB', async () => {
  const { open, remove } = await lmdbTraces();
  const store = await open();
  try {
    const random = new Random(5);
    const { header, traces } = blockOfTrees(random, 9, [randomTree(random, 30, 5)]);
    const input = `0x${'5a'.repeat(3_000_000)}` as Data; // hex digits
    const large = traces.map(
      (trace): Trace => (trace.type === 'call' ? { ...trace, action: { ...trace.action, input } } : trace),
    );
    await store.apply({ blocks: [indexBlock(header, large)] });
    const found: Trace[] = [];
    let longest = 0;
    for await (const page of filterPages(store, { fromBlock: 9, toBlock: 9, ...ALL })) {
      longest = Math.max(longest, page.length);
      found.push(...(JSON.parse(page.toString()) as Trace[]));
    }
    expect(found).toEqual(large);
    expect(longest).toBeLessThanOrEqual(64 * 1024 * 1024);
    const gone = filterPages(store, { fromBlock: 9, toBlock: 10, ...ALL });
    expect(String((await gone.next()).value)).toBe('[]');
    expect((await gone.next()).done).toBe(true);
  } finally {
    await store.close();
    await remove();
  }
});
