import type { Config } from '../../config/index.ts';
import type { TraceProvider } from '../../ethereum/nodes/index.ts';
import { NoIndexError, openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import type { SharedReader, SharedTraces, SharedWriter } from '../../ethereum/store/shared/index.ts';
import {
  type ChainIdentity,
  type IndexChange,
  type TraceReader,
  type TraceStore,
  WrongChainError,
} from '../../ethereum/traces/index.ts';
import { openNodes } from '../ethereum/openNodes.ts';
import { EmbeddedSource } from './embeddedSource.ts';
import { type FillIndexOptions, IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { asConfigError, openSharedUrl } from './openIndex.ts';

/** Traces per write. ClickHouse is most efficient with large inserts. */
const TRACES_PER_WRITE = 65_536;
const MAX_BLOCK = 2 ** 32 - 1;

type CommandStore = Pick<
  TraceStore,
  'bindChain' | 'head' | 'block' | 'firstMissing' | 'unavailable' | 'apply' | 'tracesPerChange'
>;

/** The shared index of a chain, for commands that write it. */
export class SharedTarget implements CommandStore {
  readonly tracesPerChange = TRACES_PER_WRITE;
  readonly isFinalOnly = true;
  readonly chain: ChainIdentity;
  readonly reader: SharedReader;
  readonly writer: SharedWriter;

  constructor(chain: ChainIdentity, traces: SharedTraces) {
    this.chain = chain;
    this.reader = traces.reader(chain);
    this.writer = traces.writer(chain);
  }

  async bindChain(identity: ChainIdentity): Promise<void> {
    const { chainId, genesisHash } = this.chain;
    if (identity.chainId !== chainId || identity.genesisHash !== genesisHash)
      throw new WrongChainError(this.chain, identity);
  }

  head() {
    return this.reader.lastBlock(MAX_BLOCK);
  }

  block(blockNumber: number) {
    return this.reader.block(blockNumber);
  }

  firstMissing(fromBlock: number, toBlock: number) {
    return this.reader.firstMissing(fromBlock, toBlock);
  }

  missingIn(fromBlock: number, toBlock: number) {
    return this.reader.missingIn(fromBlock, toBlock);
  }

  unavailable(fromBlock: number, toBlock: number, max: number) {
    return this.reader.unavailable(fromBlock, toBlock, max);
  }

  async apply({ blocks }: IndexChange): Promise<void> {
    await this.writer.write(blocks);
  }
}

export interface SharedTargetOptions
  extends Pick<FillIndexOptions, 'dataDir' | 'network' | 'upstream' | 'traceLimits'> {
  readonly traceStore?: Config['traceStore'];
  readonly trouble: (message: string) => void;
}

export interface SharedSources {
  readonly target: SharedTarget;
  /** Undefined if no node is named. */
  readonly nodes: TraceProvider | undefined;
  /** Blocks of the index in the data folder, otherwise of the nodes. */
  readonly source: TraceProvider;
}

/**
 * Opens the shared index for a command, whose chain is that of the nodes, otherwise that of the index in the data
 * folder. A server may use this folder. Rejects with IndexingError or errors of the store.
 */
export async function withSharedTarget<T>(
  { dataDir, network, upstream, traceLimits, traceStore, trouble }: SharedTargetOptions,
  use: (opened: SharedSources) => Promise<T>,
): Promise<T> {
  const traces = await openSharedUrl(traceStore);
  const embedded = openEmbedded(indexFolder(dataDir, network));
  const held = await embedded?.chain();
  const nodes =
    upstream.length === 0
      ? undefined
      : await openNodes(upstream, { chain: held, traceLimits }, (_, what, { message }) =>
          trouble(`${what}: ${message}`),
        );
  try {
    await traces.check().catch(asConfigError);
    const chain = (await nodes?.source.chain()) ?? held;
    const source = embedded === undefined ? nodes?.source : new EmbeddedSource(embedded, nodes?.source);
    if (chain === undefined || source === undefined)
      throw new IndexingError(
        `no index of ${network} in ${dataDir}, and no node: set a node with --upstream, or the data folder with --data-dir`,
      );
    const target = new SharedTarget(chain, traces);
    return await use({ target, nodes: nodes?.source, source });
  } finally {
    await nodes?.close();
    await embedded?.close();
    await traces.close();
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
