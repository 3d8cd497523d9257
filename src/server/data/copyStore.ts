import { resolve } from 'node:path';
import { QUIET } from '../../platform/logging/index.ts';
import type { Batches, StoreDump, StoreRecord, TableName } from '../../rules/index.ts';
import { databaseDump } from '../../rules/store/index.ts';

const DATABASE = /^postgres(ql)?:/;

/** Copies a rules store (data folder or database URL) into an empty one. Returns the number of records per table. */
export async function copyStore(from: string, to: string): Promise<ReadonlyMap<TableName, number>> {
  if (locationOf(from) === locationOf(to)) throw new Error('--from and --to name the same store');
  const counts = new Map<TableName, number>();
  async function* counted(batches: Batches): AsyncGenerator<readonly StoreRecord[]> {
    for await (const batch of batches) {
      for (const { table } of batch) counts.set(table, (counts.get(table) ?? 0) + 1);
      yield batch;
    }
  }
  const [source, target] = [await storeAt(from), await storeAt(to)];
  await source.read((batches) => target.fill(counted(batches)));
  return counts;
}

const locationOf = (store: string): string => (DATABASE.test(store) ? store : resolve(store));

/** Opens the store at a database URL or in a data folder. Loads only the storage engine that this store needs. */
const storeAt = async (store: string): Promise<StoreDump> =>
  DATABASE.test(store)
    ? databaseDump(store, { log: QUIET })
    : (await import('./folderStore.ts')).folderStore(store);
