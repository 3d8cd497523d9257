import type { ApplyWith } from '../../ethereum/ingest/index.ts';

/** The workers, which read the newest blocks of a shared index in the data folder of this process. */
interface Followers {
  settled(): Promise<void>;
}

/**
 * While blocks are removed from a shared index, hides the newest blocks in the data folder from workers. Workers then
 * read the database.
 */
export class HiddenUndo {
  readonly #followers: Followers;
  #isUndoing = false;

  constructor(followers: Followers) {
    this.#followers = followers;
  }

  /** Whether blocks are being removed, so that workers must not read the newest blocks in the data folder. */
  get isUndoing(): boolean {
    return this.#isUndoing;
  }

  readonly applyWith: ApplyWith = async (change, apply) => {
    if (change.undoFrom === undefined) return apply();
    this.#isUndoing = true;
    try {
      await this.#followers.settled();
      await apply();
    } finally {
      this.#isUndoing = false;
      await this.#followers.settled();
    }
  };
}
