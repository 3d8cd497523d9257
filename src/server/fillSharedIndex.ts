import {
  type BlockRef,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceProvider,
} from '../ethereum/nodes/index.ts';
import { NoIndexError, openTraceReader } from '../ethereum/store/lmdb/traces/index.ts';
import type { ChainIdentity, Hash, Trace, TraceReader } from '../ethereum/traces/index.ts';
import { QUIET } from '../platform/logging/index.ts';
import { type FillIndexOptions, fillFrom, IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { openSharedIndex, type SharedIndexOptions } from './openIndex.ts';
import { openNodes } from './openNodes.ts';

export interface FillSharedIndexOptions extends FillIndexOptions {
  readonly stores: Pick<SharedIndexOptions, 'traceStore' | 'traceStorePostgres' | 'rules'>;
}

/**
 * Adds to the index that instances share what it has not of a range: out of the index in the data folder, beside its server, and what
 * that has not from nodes. Rejects with IndexingError and what it throws.
 */
export async function fillSharedIndex(options: FillSharedIndexOptions): Promise<{ complete: boolean }> {
  const { dataDir, network, upstream, progress, stores } = options;
  const store = await openSharedIndex(stores, { network, logger: QUIET });
  const embedded = openEmbedded(indexFolder(dataDir, network));
  try {
    if (upstream.length === 0) {
      if (embedded === undefined)
        throw new IndexingError(
          `${dataDir} holds no index of ${network}, and no node is named: name one with --upstream, or the data folder with --data-dir`,
        );
      return await fillFrom(new EmbeddedSource(embedded), store, options);
    }
    const chain = (await store.chain()) ?? (await embedded?.chain());
    const nodes = await openNodes(upstream, chain, (_, what, { message }) =>
      progress.trouble(`${what}: ${message}`),
    );
    try {
      const { source } = nodes;
      return await fillFrom(
        embedded === undefined ? source : new EmbeddedSource(embedded, source),
        store,
        options,
      );
    } finally {
      await nodes.close();
    }
  } finally {
    await embedded?.close();
    await store.close();
  }
}

function openEmbedded(folder: string): TraceReader | undefined {
  try {
    return openTraceReader(folder);
  } catch (error) {
    if (error instanceof NoIndexError) return undefined;
    throw error;
  }
}

/** Final blocks of an index as those of a node; what it has not is asked of nodes, where there are any. */
class EmbeddedSource implements TraceProvider {
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
    const bytes = await this.#index.blockTraces(blockNumber, Number.POSITIVE_INFINITY);
    const traces = JSON.parse((bytes ?? '[]').toString()) as Trace[]; // written from checked traces
    const hashes = new Set<Hash>();
    for (const { transactionHash } of traces) if (transactionHash !== null) hashes.add(transactionHash);
    return { header: { ...block, transactionHashes: [...hashes] }, traces };
  }
}
