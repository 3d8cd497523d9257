import { join } from 'node:path';
import { StoreWriteError } from './storeSeal.ts';

/** More than most commits of small records need. */
const PROBE_BYTES = 64 * 1024;

/** Writes a small file to the folder of a store, and removes it. Rejects with StoreWriteError if that fails. */
export async function checkWritable(folder: string): Promise<void> {
  const file = join(folder, `probe.${process.pid}`);
  // Loaded on demand, because a server without failures does not need it.
  const { rm, writeFile } = await import('node:fs/promises');
  try {
    await rm(file, { force: true });
    // The flag fails for a link that was created in between.
    await writeFile(file, Buffer.alloc(PROBE_BYTES), { flag: 'wx', mode: 0o600, flush: true });
    await rm(file);
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined);
    throw new StoreWriteError(folder, error as Error); // functions of node:fs reject with nothing else
  }
}
