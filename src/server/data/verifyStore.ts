import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type VerifiedShare, verifyTraces, WHOLE } from '../../ethereum/store/lmdb/traces/index.ts';
import { BLOCKS_PER_SEGMENT } from '../../ethereum/traces/index.ts';
import { readAllRecords } from '../../platform/storeFile/index.ts';

export interface VerifyStoreOptions {
  /** Share of the store that this process verifies; see `VerifiedShare`. Default: the whole store. */
  readonly share?: Pick<VerifiedShare, 'index' | 'processes'>;
  /** File with a first line, then verified segments, one a line, which are skipped. Default: no file. */
  readonly record?: string | undefined;
  readonly progress: (text: string) => void;
}

/** Whether a store is the index of a network, of which several processes can verify a share each. */
export const isTraceStore = (store: string): boolean => store === 'traces' || store.startsWith('traces-');

/** Reads one store and returns its problems. Run it in a separate process, because a torn file may crash it. */
export async function verifyStore(
  folder: string,
  store: string,
  { share = WHOLE, record, progress }: VerifyStoreOptions,
): Promise<readonly string[]> {
  try {
    if (isTraceStore(store)) {
      const done = new Set(record === undefined || !existsSync(record) ? [] : numbersIn(record));
      const verified = (segment: number, block: number): void => {
        if (record !== undefined) appendFileSync(record, `${segment}\n`);
        progress(`${store}: verified blocks ${block} to ${block + BLOCKS_PER_SEGMENT - 1}`);
      };
      return await verifyTraces(folder, verified, { ...share, done });
    }
    await readAllRecords(folder);
    if (store === 'rules') return await (await import('../../rules/store/lmdb/index.ts')).verifyRules(folder);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Returns the numbers after the first line of a file, one a line. A kill may have cut off the last one. */
const numbersIn = (file: string): number[] => readFileSync(file, 'utf8').split('\n').slice(1, -1).map(Number);
