import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';

/** Far more than a deletion needs, because many deletions may run before they free space. */
const RESERVE_BYTES = 1024 * 1024;

/** Disk space reserved for deletions. LMDB writes a deletion to new pages, so a full disk would prevent it. */
export class Reserve {
  readonly #file: string;
  #isThere: boolean;

  /** Creates no file yet, because startup must not wait for the disk and a store without writes needs no reserve. */
  constructor(file: string) {
    this.#file = file;
    this.#isThere = hasSize(file);
  }

  /** Frees the reserved space. Returns false if none was reserved. */
  free(): boolean {
    if (!this.#isThere) return false;
    rmSync(this.#file, { force: true });
    this.#isThere = false;
    return true;
  }

  /** Reserves the space if needed. Returns false if the disk is too full; only deletions are possible then. */
  ensure(): boolean {
    this.#isThere ||= fill(this.#file);
    return this.#isThere;
  }
}

export const NO_RESERVE: Pick<Reserve, 'ensure' | 'free'> = { ensure: () => true, free: () => false };

function hasSize(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
}

function fill(file: string): boolean {
  try {
    const descriptor = openSync(file, 'w', 0o600);
    try {
      // Written in full, because a sparse file would reserve no space.
      let left = RESERVE_BYTES;
      while (left > 0) left -= writeSync(descriptor, Buffer.alloc(left));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch {
    rmSync(file, { force: true });
    return false;
  }
}
