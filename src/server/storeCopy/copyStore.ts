import { resolve } from 'node:path';
import { QUIET } from '../../platform/logging/index.ts';
import { type StoreRecord, StoreSummary, type WholeStore } from '../../rules/index.ts';
import { openWholeDatabase } from '../../rules/store/index.ts';

/** What was written is not what was read; nothing of it is kept. */
class StoreCopyError extends Error {
  override readonly name = 'StoreCopyError';
}

export interface StoreCopyOptions {
  /** Each a data folder, or the URL of a PostgreSQL. */
  readonly from: string;
  readonly to: string;
  /** Hears how much has been read so far. */
  readonly progress: (read: StoreSummary) => void;
}

const DATABASE = /^postgres(ql)?:/;

/**
 * Copies everything of a store of rules into another that is empty: rules, access lists, tokens, API keys, audit and retry keys, unchanged.
 * What was written is read back and compared before it counts.
 */
export async function copyStore({ from, to, progress }: StoreCopyOptions): Promise<StoreSummary> {
  if (placeOf(from) === placeOf(to)) throw new StoreCopyError('--from and --to name the same store');
  const source = await open(from);
  try {
    const target = await open(to);
    try {
      return await source.read((records) => fill(target, records, progress));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function fill(
  target: WholeStore,
  records: AsyncIterable<StoreRecord>,
  progress: StoreCopyOptions['progress'],
): Promise<StoreSummary> {
  const read = new StoreSummary();
  async function* counted(): AsyncGenerator<StoreRecord> {
    for await (const record of records) {
      read.add(record);
      progress(read);
      yield record;
    }
  }
  await target.fill(counted(), async (written) => {
    const found = new StoreSummary();
    for await (const record of written) found.add(record);
    const differing = read.differences(found);
    if (differing.length > 0)
      throw new StoreCopyError(
        `what was written is not what was read (${differing.map((kind) => `${kind}: ${read.count(kind)} read, ${found.count(kind)} found`).join('; ')}); nothing of it is kept`,
      );
  });
  return read;
}

const placeOf = (store: string): string => (DATABASE.test(store) ? store : resolve(store));

/** Loads no other engine than it needs. */
async function open(store: string): Promise<WholeStore> {
  if (DATABASE.test(store)) return openWholeDatabase(store, { log: QUIET });
  return (await import('./folderStore.ts')).openFolderStore(store);
}
