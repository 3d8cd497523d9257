import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inBackground } from '../../../../platform/background/index.ts';
import type { Log } from '../../../../platform/logging/index.ts';
import { StoreUnavailable } from '../../../index.ts';
import type { CollectionState } from '../cachedCollections.ts';
import type { ChangeFeed } from '../changeFeed.ts';
import { type Snapshot, SnapshotFile, type SnapshotTimes } from './snapshotFile.ts';

export interface SnapshotsOptions {
  readonly folder: string;
  /** Account of the guard, whose rules, access lists and zone policies are kept. Undefined: there is no guard. */
  readonly account: string | undefined;
  /** Whether API keys are kept, which gateways need. */
  readonly keepsKeys: boolean;
}

/** API keys as stored in a snapshot. */
export interface KeysState {
  readonly hadAny: boolean;
  readonly keys: readonly (readonly [hash: string, key: unknown])[];
}

/** The part of `CachedCollections` that does not depend on the type of the items. */
export interface Collection {
  state(key: string): Promise<CollectionState>;
  restore(key: string, state: CollectionState): void;
}

export interface SnapshotsDependencies {
  readonly database: string;
  readonly feed: ChangeFeed;
  /** The collections of rules, access list entries and zone policies, always in the same order. */
  readonly collections: readonly Collection[];
  readonly log: Log;
}

const TOUCH_MS = 10_000;
/**
 * Maximum time between the end of a gateway and its next start after which it still uses its snapshot of API keys.
 * Keys that were revoked meanwhile are unknown to it. A gateway whose keys are unknown rejects all requests with 503.
 */
const MAX_DOWN_MS = 5 * 60_000;

/** Snapshots of the data that a guard and a gateway need to start while the database is away. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #feed: ChangeFeed;
  readonly #collections: SnapshotsDependencies['collections'];
  readonly #log: Log;
  readonly #rules: SnapshotFile;
  readonly #keys: SnapshotFile;
  #isRulesChanged = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SnapshotsOptions, { database, feed, collections, log }: SnapshotsDependencies) {
    this.#options = options;
    this.#feed = feed;
    this.#collections = collections;
    this.#log = log;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const fileOf = (name: string): SnapshotFile =>
      new SnapshotFile({ path: join(options.folder, name), database, log });
    this.#rules = fileOf('rules.snapshot');
    this.#keys = fileOf('keys.snapshot');
  }

  /** Restores the rules of the guard's account. Returns whether the snapshot is usable; undefined without a guard. */
  restoreRules(): boolean | undefined {
    const { account } = this.#options;
    if (account === undefined) return undefined;
    const read = this.#rules.read();
    // Only this class writes the content, and its checksum was verified.
    const content = read?.content as { account: string; states: CollectionState[] } | undefined;
    if (read === undefined || content?.account !== account) {
      this.#rules.ignore();
      return false;
    }
    this.#collections.forEach((collection, i) => {
      collection.restore(account, content.states[i] ?? { at: 0, items: [] });
    });
    this.#used(read, 'rules');
    return true;
  }

  /** Returns the keys of the snapshot; undefined if it is unusable, or if the server was down for too long. */
  restoredKeys(): KeysState | undefined {
    const read = this.#options.keepsKeys ? this.#keys.read() : undefined;
    if (read === undefined) return undefined;
    const downMs = Date.now() - read.aliveMs;
    if (Math.abs(downMs) > MAX_DOWN_MS) {
      const downSeconds = Math.round(downMs / 1000);
      // Otherwise the old keys would have the time of this start, and the next start would use them.
      this.#keys.ignore();
      this.#log.error({ downSeconds }, 'API keys unknown: the server was down too long to use its snapshot');
      return undefined;
    }
    this.#used(read, 'API keys');
    return read.content as KeysState; // only this class writes the content, and its checksum was verified
  }

  /** Resolves when the keys are on the disk. Called before changed keys are used, so that no revocation is lost. */
  async keepKeys(state: KeysState): Promise<void> {
    if (this.#options.keepsKeys) await this.#keys.write(state, this.#times());
  }

  start(): void {
    const { account } = this.#options;
    for (const part of [this.#feed.rules, this.#feed.lists, this.#feed.zones])
      part.add((changed) => {
        if (changed === account) this.#isRulesChanged = true;
      });
    this.#feed.onPolled = () => inBackground('snapshot of the rules', () => this.#keepRules());
    this.#timer = setInterval(
      () => inBackground('times of the snapshots', () => this.#touch()),
      TOUCH_MS,
    ).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#feed.onPolled = () => undefined;
    await this.#touch();
  }

  async #keepRules(): Promise<void> {
    const { account } = this.#options;
    if (account === undefined || !this.#isRulesChanged) return;
    this.#isRulesChanged = false;
    try {
      const states = await Promise.all(this.#collections.map((collection) => collection.state(account)));
      await this.#rules.write({ account, states }, this.#times());
    } catch (error) {
      this.#isRulesChanged = true;
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async #touch(): Promise<void> {
    for (const file of [this.#rules, this.#keys]) await file.touch(this.#times()).catch(() => undefined);
  }

  #times(): SnapshotTimes {
    const nowMs = Date.now();
    return { comparedMs: nowMs - this.#feed.ageMs, aliveMs: nowMs };
  }

  #used({ comparedMs }: Snapshot, what: string): void {
    const ageMs = Math.max(0, Date.now() - comparedMs);
    this.#feed.restoreAge(ageMs);
    this.#log.warn(
      { what, ageSeconds: Math.round(ageMs / 1000) },
      'started from a snapshot: the rules database is unreachable',
    );
  }
}
