import {
  type BlockRef,
  JsonReader,
  NodeError,
  type NodeHeads,
  ResponseMemory,
  type TracedBlock,
  type TraceProvider,
} from '../../ethereum/nodes/index.ts';
import type { ChainIdentity, Hash, Trace, TraceReader } from '../../ethereum/traces/index.ts';
import { filterPages } from './filterPages.ts';
import { IndexingError } from './withIndex.ts';

/**
 * A source of blocks that reads final blocks from the index in the data folder, and requests all others from nodes.
 * Without nodes, reads all blocks from the index.
 */
export class EmbeddedSource implements TraceProvider {
  readonly #index: TraceReader;
  readonly #nodes: TraceProvider | undefined;

  constructor(index: TraceReader, nodes?: TraceProvider) {
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

  async blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    return (await this.#index.block(blockNumber)) ?? this.#nodes?.blockRef(blockNumber);
  }

  async block(blockNumber: number): Promise<TracedBlock | undefined> {
    const isFinal = blockNumber <= ((await this.#index.finalizedNumber()) ?? -1);
    const block = isFinal || this.#nodes === undefined ? await this.#index.block(blockNumber) : undefined;
    if (block === undefined) {
      if (this.#nodes !== undefined) return this.#nodes.block(blockNumber);
      throw new NodeError('unreachable', `the index in the data folder has no block ${blockNumber}`);
    }
    if (block.unavailable !== undefined) {
      if (this.#nodes !== undefined) return this.#nodes.block(blockNumber);
      return { header: { ...block, transactionHashes: [] }, traces: [], unavailable: block.unavailable };
    }
    const traces = await this.#tracesOf(blockNumber);
    const hashes = new Set<Hash>();
    for (const { transactionHash } of traces) if (transactionHash !== null) hashes.add(transactionHash);
    // The index does not record whether its source lacked frames.
    return { header: { ...block, transactionHashes: [...hashes] }, traces, lacksFrames: true };
  }

  /** Reads the traces of a block. Data that occurs several times in the block is kept in memory once. */
  async #tracesOf(blockNumber: number): Promise<Trace[]> {
    const kept = new ResponseMemory(Number.POSITIVE_INFINITY, `block ${blockNumber}`);
    const all = { fromAddresses: [], toAddresses: [], mode: 'intersection' } as const;
    const traces: Trace[] = [];
    const block = { fromBlock: blockNumber, toBlock: blockNumber };
    for await (const page of filterPages(this.#index, { ...block, ...all })) {
      const json = new JsonReader(kept);
      json.write(page);
      for (const trace of json.end() as Trace[]) traces.push(trace); // written from checked traces, as JSON
    }
    return traces;
  }
}
