import { resolve } from 'node:path';
import { QUIET } from '../../platform/logging/index.ts';
import type { Batch, Batches, StoreDump } from '../../rules/index.ts';
import { databaseDump } from '../../rules/store/index.ts';

/** Copies a rules store (data folder or database URL) into an empty one. Returns the number of rows per table. */
export async function copyStore(from: string, to: string): Promise<ReadonlyMap<Batch['table'], number>> {
  const [source, target] = [placeOf(from), placeOf(to)];
  if (source === target) throw new Error('--from and --to name the same store');
  const counts = new Map<Batch['table'], number>();
  async function* counted(batches: Batches): Batches {
    for await (const batch of batches) {
      counts.set(batch.table, (counts.get(batch.table) ?? 0) + batch.rows.length);
      yield batch;
    }
  }
  const targetStore = await storeAt(target);
  await (await storeAt(source)).read((batches) => targetStore.fill(counted(batches)));
  return counts;
}

const isUrl = (store: string): boolean => /^postgres(ql)?:/.test(store);
const placeOf = (store: string): string => (isUrl(store) ? store : resolve(store));
/** Opens the store at a database URL or in a data folder. Loads only the storage engine that this store needs. */
const storeAt = async (place: string): Promise<StoreDump> =>
  isUrl(place) ? databaseDump(place, { log: QUIET }) : (await import('./folderStore.ts')).folderStore(place);
