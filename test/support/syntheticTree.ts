import type { Address, Data, Hash, Quantity, Trace } from '../../src/ethereum/traces/index.ts';
import type { Random } from './random.ts';
import type { SyntheticBlock } from './syntheticChain.ts';

// Type assertions in this file brand text that has the right form by construction.

/** A call tree: the children of each frame. */
export interface Tree {
  readonly children: Tree[];
}

/** Returns a tree with this many frames; each new frame is a child of one of the last `breadth` frames. */
export function randomTree(random: Random, frames: number, breadth: number): Tree {
  const root: Tree = { children: [] };
  const all = [root];
  while (all.length < frames) {
    const child: Tree = { children: [] };
    all[Math.max(0, all.length - 1 - random.below(breadth))]?.children.push(child);
    all.push(child);
  }
  return root;
}

/** Generates a block with one transaction of calls per tree, followed by a reward. */
export function blockOfTrees(random: Random, number: number, trees: readonly Tree[]): SyntheticBlock {
  const blockHash = random.hex(32) as Hash;
  const transactionHashes = trees.map(() => random.hex(32) as Hash);
  const traces: Trace[] = trees.flatMap((tree, transactionPosition) => {
    const transactionHash = transactionHashes[transactionPosition] ?? blockHash;
    return [...framesOf(tree, [])].map(({ subtraces, traceAddress }): Trace => {
      const gas = `0x${random.between(1, 2 ** 30).toString(16)}` as Quantity;
      const [from, to] = [random.hex(20) as Address, random.hex(20) as Address];
      const data = random.hex(random.below(40)) as Data;
      const action = { callType: 'call', from, gas, input: data, to, value: gas } as const;
      const at = { blockHash, blockNumber: number };
      const place = { subtraces, traceAddress, transactionHash, transactionPosition };
      return { action, ...at, result: { gasUsed: gas, output: data }, ...place, type: 'call' };
    });
  });
  traces.push({
    action: { author: random.hex(20) as Address, rewardType: 'block', value: '0x1' as Quantity },
    blockHash,
    blockNumber: number,
    result: null,
    subtraces: 0,
    traceAddress: [],
    transactionHash: null,
    transactionPosition: null,
    type: 'reward',
  });
  const parentHash = random.hex(32) as Hash;
  const timestamp = 1_700_000_000 + 12 * number;
  return { header: { number, hash: blockHash, parentHash, timestamp, transactionHashes }, traces };
}

/**
 * Yields the frames in depth-first order, each before its children. It is not recursive, because a tree may have a
 * thousand levels.
 */
export function* framesOf(
  root: Tree,
  rootAddress: readonly number[],
): Iterable<{ subtraces: number; traceAddress: readonly number[] }> {
  const due = [{ tree: root, traceAddress: rootAddress }];
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    const { tree, traceAddress } = next;
    yield { subtraces: tree.children.length, traceAddress };
    for (let i = tree.children.length - 1; i >= 0; i--) {
      const child = tree.children[i];
      if (child !== undefined) due.push({ tree: child, traceAddress: [...traceAddress, i] });
    }
  }
}
