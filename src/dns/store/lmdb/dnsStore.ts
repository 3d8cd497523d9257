/** LMDB environment of a guard: profile and baselines, one week of counts by minute, attacks, and identity. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { awaitedLater } from '../../../platform/background/index.ts';
import {
  checkStoreFormat,
  inOneCommit,
  StoreFile,
  WITHOUT_EVENT_TURN_BATCHING,
} from '../../../platform/storeFile/index.ts';
import {
  type MinuteRecord,
  mergeMinutes,
  type QueryStatsStore,
  RETENTION_MINUTES,
} from '../../analytics/index.ts';
import type { Attack, AttackQuery, AttackStore } from '../../attacks/index.ts';
import type { Learned, ProfileEntry, ProfileStore, StoredProfile } from '../../detector/index.ts';
import type { Identity, IdentityStore, LocalRecords } from '../../fleet/index.ts';
import { LmdbAttacks } from './attacks.ts';

/**
 * Number of profile entries in one LMDB value (64 KiB). A million names need only 245 values, and copying one value
 * does not delay packets noticeably.
 */
const ENTRIES_PER_CHUNK = 4096;
const WORDS_PER_ENTRY = 4;
const LEARNED_KEY = 'learned';
const SELF_KEY = 'self';
const MAX_DATABASES = 12;
const FORMAT = 1;

/**
 * Record that refers to the chunks of the profile. A save first stores the chunks under a new `generation` number,
 * and then writes this number to the record.
 */
interface Stored {
  readonly generation: number;
  readonly chunks: number;
  readonly learned: Learned;
  readonly forgottenUntil?: string;
}

interface OpenedFile {
  readonly root: RootDatabase;
  readonly file: StoreFile;
}

export class DnsStore implements ProfileStore, QueryStatsStore, AttackStore, LocalRecords, IdentityStore {
  readonly #root: RootDatabase;
  readonly #file: StoreFile;
  readonly #storesCounts: () => boolean;
  readonly #profile: Database<Stored, string>;
  readonly #chunks: Database<Buffer, number[]>;
  /** Counts of one minute under one rule. Keys: rule id, minute. */
  readonly #minutes: Database<MinuteRecord, [string, number]>;
  /** Index of `#minutes`, from which expired records are found without a scan. Keys: minute, rule id. */
  readonly #ages: Database<true, [number, string]>;
  readonly #identity: Database<Identity, string>;
  readonly #attacks: LmdbAttacks;

  /**
   * Opens or creates the environment in the data folder. Throws if the folder cannot be used. While `storesCounts`
   * returns false, no counts are written.
   */
  static open(dataDir: string, storesCounts = () => true): DnsStore {
    const folder = join(dataDir, 'dns');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = new StoreFile(folder);
    return file.withOpen(() => {
      const root = open({
        path: folder,
        maxDbs: MAX_DATABASES,
        overlappingSync: false,
        ...WITHOUT_EVENT_TURN_BATCHING,
      });
      file.opened();
      return inOneCommit(root, () => {
        checkStoreFormat(root, { store: 'dns', folder, format: FORMAT });
        return new DnsStore({ root, file }, storesCounts);
      });
    });
  }

  private constructor({ root, file }: OpenedFile, storesCounts: () => boolean) {
    this.#storesCounts = storesCounts;
    this.#root = root;
    this.#file = file;
    this.#profile = this.#root.openDB({ name: 'profile', encoding: 'json' });
    this.#chunks = this.#root.openDB({ name: 'chunks', encoding: 'binary' });
    this.#minutes = this.#root.openDB({ name: 'minutes', encoding: 'json' });
    this.#ages = this.#root.openDB({ name: 'ages', encoding: 'json' });
    this.#identity = this.#root.openDB({ name: 'identity', encoding: 'json' });
    this.#attacks = new LmdbAttacks(this.#root, file);
  }

  load(): StoredProfile | undefined {
    const stored = this.#profile.get(LEARNED_KEY);
    if (stored === undefined) return undefined;
    const { learned, forgottenUntil } = stored;
    return {
      learned,
      entries: this.#entries(stored),
      ...(forgottenUntil !== undefined && { forgottenUntil }),
    };
  }

  async save(learned: Learned, entries: Iterable<ProfileEntry>, forgottenUntil?: string): Promise<void> {
    this.#file.assertInPlace();
    const old = this.#profile.get(LEARNED_KEY);
    const generation = (old?.generation ?? 0) + 1;
    // An interrupted save may have left chunks with this number, which would mix with the new chunks.
    await this.#removeGeneration(generation);
    const writes: Promise<boolean>[] = [];
    for (const chunk of chunksOf(entries)) {
      const key = [generation, writes.length];
      writes.push(awaitedLater(this.#file.commit(() => this.#chunks.put(key, chunk))));
      // Packets are handled between two chunks, because copying a million names at once would delay them.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writes);
    const record: Stored = {
      generation,
      chunks: writes.length,
      learned,
      ...(forgottenUntil !== undefined && { forgottenUntil }),
    };
    await this.#file.commit(() => this.#profile.put(LEARNED_KEY, record));
    await this.#root.flushed;
    if (old !== undefined) await this.#removeGeneration(old.generation);
  }

  async saveLearned(learned: Learned): Promise<void> {
    const save = (): void => {
      const old = this.#profile.get(LEARNED_KEY);
      if (old === undefined) return;
      this.#profile.putSync(LEARNED_KEY, { ...old, learned });
    };
    await this.#file.commit(() => this.#root.transaction(save));
    await this.#root.flushed;
  }

  async append(records: readonly MinuteRecord[]): Promise<void> {
    if (records.length === 0 || !this.#storesCounts()) return;
    this.#file.assertInPlace();
    const oldest = Math.max(...records.map(({ minute }) => minute)) - RETENTION_MINUTES;
    const append = (): void => {
      for (const record of records) {
        const key: [string, number] = [record.ruleId, record.minute];
        const older = this.#minutes.get(key);
        this.#minutes.putSync(key, older ? mergeMinutes(older, record) : record);
        this.#ages.putSync([record.minute, record.ruleId], true);
      }
      for (const [minute, ruleId] of [...this.#ages.getKeys({ end: [oldest, ''] })]) {
        this.#minutes.removeSync([ruleId, minute]);
        this.#ages.removeSync([minute, ruleId]);
      }
    };
    await this.#file.commit(() => this.#root.transaction(append));
    await this.#root.flushed;
  }

  *range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord> {
    const range = this.#minutes.getRange({ start: [ruleId, fromMinute], end: [ruleId, toMinute] });
    for (const { value } of range) yield value;
  }

  *rangeOfAll(fromMinute: number, toMinute: number): Iterable<MinuteRecord> {
    for (const [minute, ruleId] of this.#ages.getKeys({ start: [fromMinute, ''], end: [toMinute, ''] })) {
      const record = this.#minutes.get([ruleId, minute]);
      if (record !== undefined) yield record;
    }
  }

  minutesAfter(after: readonly [minute: number, ruleId: string], limit: number): MinuteRecord[] {
    const keys = this.#ages.getKeys({ start: [...after], exclusiveStart: true, limit });
    return [...keys].flatMap(([minute, ruleId]) => this.#minutes.get([ruleId, minute]) ?? []);
  }

  identity(): Identity | undefined {
    return this.#identity.get(SELF_KEY);
  }

  async setIdentity(identity: Identity): Promise<void> {
    await this.#file.commit(() => this.#identity.put(SELF_KEY, identity));
    await this.#root.flushed;
  }

  async putAttacks(attacks: readonly Attack[]): Promise<void> {
    this.#file.assertInPlace();
    await this.#attacks.putAttacks(attacks);
  }

  async deleteAttacks(beforeMs: number): Promise<void> {
    this.#file.assertInPlace();
    await this.#attacks.deleteAttacks(beforeMs);
  }

  attack(id: string): Attack | undefined {
    return this.#attacks.attack(id);
  }

  attacks(query: AttackQuery): { result: readonly Attack[]; total: number } {
    return this.#attacks.attacks(query);
  }

  attacksAfter(after: readonly [startedMs: number, id: string], limit: number): readonly Attack[] {
    return this.#attacks.attacksAfter(after, limit);
  }

  unfinished(sinceMs: number): { open: readonly Attack[]; begun: readonly number[] } {
    return this.#attacks.unfinished(sinceMs);
  }

  async close(): Promise<void> {
    await this.#file.close(this.#root);
  }

  *#entries({ generation, chunks }: Stored): Generator<ProfileEntry> {
    for (let chunk = 0; chunk < chunks; chunk++) {
      const bytes = this.#chunks.get([generation, chunk]);
      if (bytes === undefined) return;
      for (let at = 0; at + WORDS_PER_ENTRY * 4 <= bytes.length; at += WORDS_PER_ENTRY * 4)
        yield [
          bytes.readUInt32LE(at),
          bytes.readUInt32LE(at + 4),
          bytes.readUInt32LE(at + 8),
          bytes.readUInt32LE(at + 12),
        ];
    }
  }

  async #removeGeneration(generation: number): Promise<void> {
    const keys = [...this.#chunks.getKeys({ start: [generation], end: [generation + 1] })];
    await Promise.all(keys.map((key) => this.#file.commit(() => this.#chunks.remove(key))));
  }
}

function* chunksOf(entries: Iterable<ProfileEntry>): Generator<Buffer> {
  let chunk = Buffer.alloc(ENTRIES_PER_CHUNK * WORDS_PER_ENTRY * 4);
  let at = 0;
  for (const entry of entries) {
    for (const word of entry) at = chunk.writeUInt32LE(word, at);
    if (at < chunk.length) continue;
    yield chunk;
    chunk = Buffer.alloc(chunk.length);
    at = 0;
  }
  if (at > 0) yield chunk.subarray(0, at);
}
