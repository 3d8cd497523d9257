import { fetchBlocks, range } from '../../ethereum/ingest/index.ts';
import { type FillIndexOptions, fillFrom, finalBlockOf } from './fillIndex.ts';
import { type SharedTargetOptions, withSharedTarget } from './sharedTarget.ts';
import { IndexingError } from './withIndex.ts';

export interface FillSharedIndexOptions extends FillIndexOptions, Pick<SharedTargetOptions, 'traceStore'> {}

/**
 * Adds the missing final blocks of a range to the index that servers share. Reads them from the index in the data
 * folder, otherwise from nodes. Rejects with IndexingError or errors of the store.
 */
export async function fillSharedIndex(options: FillSharedIndexOptions): Promise<{ complete: boolean }> {
  const trouble = (message: string): void => options.progress.trouble(message);
  requireFinality(options);
  return withSharedTarget({ ...options, trouble }, ({ target, source }) => fillFrom(source, target, options));
}

function requireFinality({ finality }: FillSharedIndexOptions): void {
  if (finality === 'none')
    throw new IndexingError('index.finality is none, so no block may be written to the shared index');
}

/** Writes blocks of the shared index again, with a higher version, as the nodes return them. */
export async function rewriteSharedBlocks(
  options: FillSharedIndexOptions & { readonly toBlock: number },
): Promise<{ complete: boolean }> {
  const { fromBlock, toBlock, finality, signal, progress } = options;
  requireFinality(options);
  const trouble = (message: string): void => progress.trouble(message);
  return withSharedTarget({ ...options, trouble }, async ({ target, nodes }) => {
    if (nodes === undefined) throw new IndexingError('--again needs a node: set it with --upstream');
    const final = await finalBlockOf(nodes, finality);
    if (toBlock > final)
      throw new IndexingError(
        `--again: block ${toBlock} is not final yet; the highest final block is ${final}`,
      );
    progress.started(fromBlock, toBlock, toBlock - fromBlock + 1);
    let written = fromBlock;
    for await (const blocks of fetchBlocks(range(fromBlock, toBlock), {
      store: target,
      source: nodes,
      signal,
    })) {
      if (signal.aborted) break;
      await target.writer.write(blocks, { again: true });
      written += blocks.length;
      progress.written(blocks, 1);
    }
    return { complete: written > toBlock };
  });
}

/** Marks all blocks of the shared index above a block as missing. Resolves with the previous highest block. */
export function rewindSharedIndex(
  options: SharedTargetOptions & { readonly lastBlock: number },
): Promise<{ readonly from: number | undefined; readonly to: number | undefined }> {
  return withSharedTarget(options, async ({ target }) => {
    const from = (await target.head())?.number;
    if (from !== undefined) await target.writer.rewind(options.lastBlock, from);
    return { from, to: (await target.head())?.number };
  });
}
