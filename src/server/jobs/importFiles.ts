import { availableParallelism } from 'node:os';
import type { Config } from '../../config/index.ts';
import type { FileSource, ImportNode } from '../../ethereum/import/index.ts';
import { NodeClient } from '../../ethereum/nodes/index.ts';
import type { ChainIdentity, TraceStore } from '../../ethereum/traces/index.ts';
import { withNodes } from '../ethereum/withNodes.ts';
import { type FilledStore, type FillIndexOptions, fillFrom } from './fillIndex.ts';
import { asConfigError, openSharedUrl } from './openIndex.ts';
import { SharedTarget } from './sharedTarget.ts';
import { IndexingError, type NoSpace, withIndex } from './withIndex.ts';

export interface ImportFilesOptions
  extends Pick<FillIndexOptions, 'dataDir' | 'network' | 'traceLimits' | 'signal' | 'progress'> {
  readonly traces: readonly string[];
  readonly headers: readonly string[];
  /** Nodes for blocks that are incomplete in the files. */
  readonly nodes: readonly string[];
  /** Whether to write to the shared index. If not, the index in the data folder is locked during the import. */
  readonly toStore: boolean;
  readonly traceStore?: Config['traceStore'];
}

/** Adds the blocks of files to an index. Rejects with ImportError, IndexingError or errors of the store. */
export async function importFiles(options: ImportFilesOptions): Promise<{ complete: boolean }> {
  const { toStore, traceStore } = options;
  if (toStore) {
    const traces = await openSharedUrl(traceStore);
    try {
      await traces.check().catch(asConfigError);
      const open = (chain: ChainIdentity) => new SharedTarget(chain, traces);
      return await importInto({ held: undefined, open }, options);
    } finally {
      await traces.close();
    }
  }
  return withIndex(
    options,
    async (store, noSpace) => importInto({ held: await store.chain(), open: () => store }, options, noSpace),
    { create: true },
  );
}

type Target = FilledStore & Pick<TraceStore, 'block'>;

interface OpenedTarget {
  /** The chain of the index; undefined if the index is empty or does not depend on it. */
  readonly held: ChainIdentity | undefined;
  open(chain: ChainIdentity): Target;
}

async function importInto(
  { held, open }: OpenedTarget,
  options: ImportFilesOptions,
  noSpace?: NoSpace,
): Promise<{ complete: boolean }> {
  const { traces, headers, signal, progress } = options;
  // A server does not need this module.
  const { FileSource, ImportThreads } = await import('../../ethereum/import/index.ts');
  const count = availableParallelism();
  const threads = new ImportThreads(count);
  try {
    const source = await FileSource.open({ traces, headers }, { prepare: threads.prepare, threads: count });
    try {
      return await withNode(options, held ?? statedChain(source), async (node, chain) => {
        const store = open(chain);
        source.begin(chain, node);
        await requireSameBlocks(store, source, node);
        const range = { fromBlock: source.first.number, toBlock: source.last.number };
        return fillFrom(source, store, { ...range, signal, progress, ...(noSpace && { noSpace }) });
      });
    } finally {
      await source.close();
    }
  } finally {
    await threads.close();
  }
}

/** Returns the chain that files name; undefined if they do not. */
function statedChain({ first }: FileSource): ChainIdentity | undefined {
  const { chainId, genesisHash = first.number === 0 ? first.hash : undefined } = first;
  return chainId === undefined || genesisHash === undefined ? undefined : { chainId, genesisHash };
}

/** Calls `use` with the configured nodes, if any, and the chain. Rejects with IndexingError if the chain is unknown. */
async function withNode<T>(
  { nodes: urls, traceLimits, progress }: ImportFilesOptions,
  chain: ChainIdentity | undefined,
  use: (node: ImportNode | undefined, chain: ChainIdentity) => Promise<T>,
): Promise<T> {
  const [url] = urls;
  if (url === undefined) {
    if (chain !== undefined) return use(undefined, chain);
    throw new IndexingError(
      'the chain is unknown, because the index is empty and the headers lack chain id or genesis hash: use --node URL',
    );
  }
  const trouble = (message: string): void => progress.trouble(message);
  return withNodes({ upstream: urls, chain, traceLimits, trouble }, async (source) => {
    const client = new NodeClient(url);
    const node: ImportNode = {
      source,
      async transactionCount({ hash }) {
        const count = await client.call('eth_getBlockTransactionCountByHash', hash);
        return typeof count === 'string' ? Number(count) : undefined;
      },
    };
    try {
      return await use(node, chain ?? (await source.chain()));
    } finally {
      await client.close();
    }
  });
}

/** Rejects with IndexingError if the first or last block differs from that of the index or the node. */
async function requireSameBlocks(
  store: Target,
  { first, last }: FileSource,
  node: ImportNode | undefined,
): Promise<void> {
  for (const { number, hash } of [first, last]) {
    const [held, known] = [await store.block(number), await node?.source.blockRef(number)];
    if (node !== undefined && known === undefined) throw new IndexingError(`the node has no block ${number}`);
    for (const block of [held, known])
      if (block !== undefined && block.hash !== hash)
        throw new IndexingError(
          `block ${number} is ${hash} in the files, but ${block.hash} ${block === held ? 'in the index' : 'at the node'}`,
        );
  }
}
