/** Stores attacks in LMDB by start time, so that one page of them can be read without reading all attacks. */
import type { Database, RootDatabase } from 'lmdb';
import type { StoreFile } from '../../../platform/storeFile/index.ts';
import type { Attack, AttackQuery, AttackStore } from '../../attacks/index.ts';

type Key = [startedMs: number, id: string];

export class LmdbAttacks implements AttackStore {
  readonly #root: RootDatabase;
  readonly #file: StoreFile;
  readonly #attacks: Database<Attack, Key>;
  /** Start time of each attack in milliseconds, by attack id. */
  readonly #ids: Database<number, string>;
  readonly #open: Database<true, string>;

  constructor(root: RootDatabase, file: StoreFile) {
    this.#root = root;
    this.#file = file;
    this.#attacks = root.openDB({ name: 'attacks', encoding: 'json' });
    this.#ids = root.openDB({ name: 'attackIds', encoding: 'json' });
    this.#open = root.openDB({ name: 'openAttacks', encoding: 'json' });
  }

  async putAttacks(attacks: readonly Attack[]): Promise<void> {
    if (attacks.length === 0) return;
    const put = (): void => {
      for (const attack of attacks) this.#put(attack);
    };
    await this.#file.commit(() => this.#root.transaction(put));
    await this.#root.flushed;
  }

  async deleteAttacks(beforeMs: number): Promise<void> {
    const isFinished = ([, id]: Key) => this.#open.get(id) === undefined;
    const tooOld = [...this.#attacks.getKeys({ end: [beforeMs, ''] })].filter(isFinished);
    if (tooOld.length === 0) return;
    const forget = (): void => {
      for (const key of tooOld) {
        this.#attacks.removeSync(key);
        this.#ids.removeSync(key[1]);
      }
    };
    await this.#file.commit(() => this.#root.transaction(forget));
    await this.#root.flushed;
  }

  attack(id: string): Attack | undefined {
    const startedMs = this.#ids.get(id);
    return startedMs === undefined ? undefined : this.#read([startedMs, id]);
  }

  attacks({ sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, page, perPage }: AttackQuery) {
    // All keys are read, which is fast: few attacks start per day, so there are at most ten thousand keys in
    // practice.
    const keys = [...this.#attacks.getKeys({ start: [sinceMs, ''], end: [untilMs, ''] })].reverse();
    const first = (page - 1) * perPage;
    const result = keys.slice(first, first + perPage).flatMap((key) => this.#read(key) ?? []);
    return { result, total: keys.length };
  }

  attacksAfter(after: readonly [startedMs: number, id: string], limit: number): Attack[] {
    const keys = this.#attacks.getKeys({ start: [...after], exclusiveStart: true, limit });
    return [...keys].flatMap((key) => this.#read(key) ?? []);
  }

  unfinished(sinceMs: number): { open: Attack[]; begun: number[] } {
    const open = [...this.#open.getKeys()].flatMap((id) => this.attack(id) ?? []);
    const begun = [...this.#attacks.getKeys({ start: [sinceMs, ''] })].map(([startedMs]) => startedMs);
    return { open, begun };
  }

  #read(key: Key): Attack | undefined {
    return this.#attacks.get(key);
  }

  #put(attack: Attack): void {
    const startedMs = Date.parse(attack.started_on);
    this.#attacks.putSync([startedMs, attack.id], attack);
    this.#ids.putSync(attack.id, startedMs);
    if (attack.state === 'active') this.#open.putSync(attack.id, true);
    else this.#open.removeSync(attack.id);
  }
}
