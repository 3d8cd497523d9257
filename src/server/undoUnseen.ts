import type { ApplyWith } from '../ethereum/ingest/index.ts';

/** Processes that answer from the index too. */
interface Followers {
  readonly applyWith: ApplyWith;
  /** Resolves when they answer by the state that there is now. */
  settled(): Promise<void>;
}

/**
 * Changes of an index that instances share, where other processes read the newest blocks here. What is undone in place they see nothing
 * of: they read where all instances do before it begins, which is of one chain at any time, until it is over.
 */
export class UndoUnseen {
  readonly #followers: Followers;
  #isUndoing = false;

  constructor(followers: Followers) {
    this.#followers = followers;
  }

  /** Whether the newest blocks are not to be read here. */
  get isUndoing(): boolean {
    return this.#isUndoing;
  }

  readonly applyWith: ApplyWith = async (change, apply) => {
    const followers = this.#followers;
    if (change.undoFrom === undefined) return followers.applyWith(change, apply);
    this.#isUndoing = true;
    try {
      await followers.settled();
      await apply();
    } finally {
      this.#isUndoing = false;
      await followers.settled();
    }
  };
}
