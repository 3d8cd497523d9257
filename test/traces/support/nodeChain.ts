import { parseTraceBlock } from '../../../src/ethereum/traces/convert/index.ts';
import type { Trace } from '../../../src/ethereum/traces/index.ts';
import { connect } from '../../support/anvil.ts';

/** A node's whole chain, as the node itself tells it: what an index of it must answer from. */
export interface NodeChain {
  readonly head: number;
  /** By block number. */
  readonly hashes: readonly string[];
  /** In the order in which they are served. */
  readonly traces: readonly Trace[];
  /** Blocks that the tags name. */
  readonly tags: Readonly<Record<'latest' | 'safe' | 'finalized' | 'earliest', number>>;
}

interface Block {
  readonly number: string;
  readonly hash: string;
}

/**
 * Reads header and `trace_block` of every block from a node. Its traces are brought to the form that is served by
 * `parseTraceBlock` (docs/nodes.md has the differences); nothing else of ours is between the node and the test.
 */
export async function readChain(nodeUrl: string): Promise<NodeChain> {
  const node = connect(nodeUrl);
  const tagged = await node.batch<Block>(
    ['latest', 'safe', 'finalized'].map((tag) => ['eth_getBlockByNumber', tag, false]),
  );
  const [latest = 0, safe = 0, finalized = 0] = tagged.map(({ number }) => Number(number));
  const numbers = Array.from({ length: latest + 1 }, (_, number) => `0x${number.toString(16)}`);
  const [blocks, traces] = await Promise.all([
    node.batch<Block>(numbers.map((number) => ['eth_getBlockByNumber', number, false])),
    node.batch(numbers.map((number) => ['trace_block', number])),
  ]);
  return {
    head: latest,
    hashes: blocks.map(({ hash }) => hash),
    traces: traces.flatMap((answer) => parseTraceBlock(answer)),
    tags: { latest, safe, finalized, earliest: 0 },
  };
}
