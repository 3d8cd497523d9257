import { verifyTraces } from '../ethereum/store/lmdb/traces/index.ts';
import { readWholeStore } from '../platform/storeFile/index.ts';

/**
 * What is wrong with one store: all of it is read, and what it means is checked. To be run in a process of its own, which a torn
 * file may end.
 */
export async function verifyStore(
  folder: string,
  store: string,
  progress: (text: string) => void,
): Promise<readonly string[]> {
  try {
    await readWholeStore(folder);
    if (store === 'rules') return await (await import('../rules/store/lmdb/index.ts')).verifyRules(folder);
    if (store === 'traces' || store.startsWith('traces-'))
      return await verifyTraces(folder, (block) => progress(`${store}: verified down to block ${block}`));
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
