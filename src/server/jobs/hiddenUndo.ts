import type { ApplyWith } from '../../ethereum/ingest/index.ts';

/** Workers, which read the newest blocks in the folder of this process. */
interface Followers {
  settled(): Promise<void>;
}

/** While blocks are removed, hides a shared index's newest blocks from workers, which then read the database. */
export class HiddenUndo {
  readonly #followers: Followers;
  #isUndoing = false;

  constructor(followers: Followers) {
    this.#followers = followers;
  }

  /** Whether workers must not read the newest blocks here. */
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
