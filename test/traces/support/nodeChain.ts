import { parseTraceBlock } from '../../../src/ethereum/traces/convert/index.ts';
import type { Trace } from '../../../src/ethereum/traces/index.ts';
import { connect } from '../../support/anvil.ts';

/** A node's complete chain as the node returns it: the reference for results of an index. */
export interface NodeChain {
  readonly head: number;
  /** Block hashes by block number. */
  readonly hashes: readonly string[];
  /** All traces in the order in which they are served. */
  readonly traces: readonly Trace[];
  /** Block numbers of the tags. */
  readonly tags: Readonly<Record<'latest' | 'safe' | 'finalized' | 'earliest', number>>;
}

interface Block {
  readonly number: string;
  readonly hash: string;
}

/**
 * Reads the header and `trace_block` of every block from a node. `parseTraceBlock` converts the traces to the served
 * form (differences: docs/reference/nodes.md); no other product code is involved.
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
