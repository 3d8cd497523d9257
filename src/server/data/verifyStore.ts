import { verifyTraces } from '../../ethereum/store/lmdb/traces/index.ts';
import { readAllRecords } from '../../platform/storeFile/index.ts';

/** Reads one store and returns its problems. Run it in a separate process, because a torn file may crash it. */
export async function verifyStore(
  folder: string,
  store: string,
  progress: (text: string) => void,
): Promise<readonly string[]> {
  try {
    await readAllRecords(folder);
    if (store === 'rules') return await (await import('../../rules/store/lmdb/index.ts')).verifyRules(folder);
    if (store === 'traces' || store.startsWith('traces-'))
      return await verifyTraces(folder, (block) => progress(`${store}: verified down to block ${block}`));
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
