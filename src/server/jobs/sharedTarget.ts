import type { Config } from '../../config/index.ts';
import type { BlockSource, TraceProvider } from '../../ethereum/nodes/index.ts';
import { NoIndexError, openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import type { SharedReader, SharedTraces, SharedWriter } from '../../ethereum/store/shared/index.ts';
import {
  type ChainIdentity,
  type CopyableIndex,
  type IndexChange,
  type TraceStore,
  WrongChainError,
} from '../../ethereum/traces/index.ts';
import { withNodes } from '../ethereum/withNodes.ts';
import { EmbeddedSource } from './embeddedSource.ts';
import type { FillIndexOptions } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { asConfigError, openSharedUrl } from './openIndex.ts';
import { IndexingError } from './withIndex.ts';

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
  readonly source: TraceProvider | BlockSource;
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
  try {
    const held = await embedded?.chain();
    const work = async (nodes?: TraceProvider): Promise<T> => {
      await traces.check().catch(asConfigError);
      const chain = (await nodes?.chain()) ?? held;
      const source = embedded === undefined ? nodes : new EmbeddedSource(embedded, nodes);
      if (chain === undefined || source === undefined)
        throw new IndexingError(
          `no index of ${network} in ${dataDir}, and no node: set a node with --upstream, or the data folder with --data-dir`,
        );
      return use({ target: new SharedTarget(chain, traces), nodes, source });
    };
    if (upstream.length === 0) return await work();
    return await withNodes({ upstream, chain: held, traceLimits, trouble }, work);
  } finally {
    await embedded?.close();
    await traces.close();
  }
}

function openEmbedded(folder: string): CopyableIndex | undefined {
  try {
    return openTraceReader(folder);
  } catch (error) {
    if (error instanceof NoIndexError) return undefined;
    throw error;
  }
}
