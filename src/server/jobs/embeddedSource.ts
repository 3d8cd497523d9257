import { indexedBlockOf } from '../../ethereum/ingest/index.ts';
import {
  type BlockSource,
  NodeError,
  type NodeHeads,
  type TraceProvider,
} from '../../ethereum/nodes/index.ts';
import type { ChainIdentity, CopyableIndex, IndexedBlock } from '../../ethereum/traces/index.ts';
import { IndexingError } from './withIndex.ts';

/**
 * A source of blocks that reads final blocks from the index in the data folder, and requests all others from nodes.
 * Without nodes, reads all blocks from the index.
 */
export class EmbeddedSource implements BlockSource {
  readonly #index: CopyableIndex;
  readonly #nodes: TraceProvider | undefined;

  constructor(index: CopyableIndex, nodes?: TraceProvider) {
    this.#index = index;
    this.#nodes = nodes;
  }

  async chain(): Promise<ChainIdentity> {
    if (this.#nodes !== undefined) return this.#nodes.chain();
    const chain = await this.#index.chain();
    if (chain === undefined) throw new IndexingError('the index in the data folder is empty');
    return chain;
  }

  async heads(): Promise<NodeHeads> {
    if (this.#nodes !== undefined) return this.#nodes.heads();
    const head = await this.#index.head();
    const number = await this.#index.finalizedNumber();
    const final = number === undefined ? undefined : await this.#index.block(number);
    if (head === undefined) throw new IndexingError('the index in the data folder is empty');
    return { latest: head, ...(final && { finalized: final }) };
  }

  async indexedBlock(blockNumber: number): Promise<IndexedBlock | undefined> {
    const isFinal = blockNumber <= ((await this.#index.finalizedNumber()) ?? -1);
    const indexed = isFinal || this.#nodes === undefined ? this.#index.indexedBlock(blockNumber) : undefined;
    if (this.#nodes !== undefined && (indexed === undefined || indexed.block.unavailable !== undefined))
      return indexedBlockOf(this.#nodes, blockNumber);
    if (indexed === undefined)
      throw new NodeError('unreachable', `the index in the data folder has no block ${blockNumber}`);
    // The index does not record whether its source lacked frames.
    return { ...indexed, lacksFrames: true };
  }
}
