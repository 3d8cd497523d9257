import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';

/** Far more than a deletion takes, of which there can be many before there is room again. */
const RESERVE_BYTES = 1024 * 1024;

/**
 * Room that a full disk keeps for deletions: a file that holds nothing. Without it a full store could not be emptied, as a
 * deletion, too, is written beside what it deletes.
 */
export class Reserve {
  readonly #file: string;
  #isThere: boolean;

  /** Makes no file yet: a start does not wait for the disk, and what was never written to has nothing to delete. */
  constructor(file: string) {
    this.#file = file;
    this.#isThere = hasSize(file);
  }

  /** Gives the room back to the disk. False where that was done already. */
  free(): boolean {
    if (!this.#isThere) return false;
    rmSync(this.#file, { force: true });
    this.#isThere = false;
    return true;
  }

  /** Sees to it that the room is there. False where the disk has not enough: it is left to deletions. */
  ensure(): boolean {
    this.#isThere ||= fill(this.#file);
    return this.#isThere;
  }
}

/** For a store that is only read. */
export const NO_RESERVE: Pick<Reserve, 'ensure' | 'free'> = { ensure: () => true, free: () => false };

function hasSize(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
}

function fill(file: string): boolean {
  try {
    const descriptor = openSync(file, 'w', 0o600);
    try {
      // Written, not only made so long: a hole in a file takes no room.
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
