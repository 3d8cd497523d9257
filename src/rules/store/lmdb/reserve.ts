import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';

/** Size of the reserve: far more than one deletion needs, because many deletions may run before they free space. */
const RESERVE_BYTES = 1024 * 1024;

/** Disk space reserved for deletions. LMDB writes a deletion to new pages, so deletions would fail on a full disk. */
export class Reserve {
  readonly #file: string;
  #isThere: boolean;

  /** Creates no file, because startup must not wait for the disk and a store without writes needs no reserve. */
  constructor(file: string) {
    this.#file = file;
    this.#isThere = hasSize(file);
  }

  /** Frees the reserved space. Returns false if no space was reserved. */
  free(): boolean {
    if (!this.#isThere) return false;
    rmSync(this.#file, { force: true });
    this.#isThere = false;
    return true;
  }

  /**
   * Reserves the space unless it is reserved already. Returns false if the disk is too full; only deletions may run.
   */
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
      // The file is written completely, because a sparse file would reserve no space.
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
