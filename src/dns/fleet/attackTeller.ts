import type { Attack } from '../attacks/index.ts';
import type { FleetStore, Self } from './fleetStore.ts';
import type { LocalRecords } from './localRecords.ts';

const ATTACKS_PER_WRITE = 50;
/** Attacks that wait to be told one by one; beyond, all are gone through from the first of them. */
const MAX_WAITING = 500;

/** Tells the attacks that have changed. */
export class AttackTeller {
  readonly #fleet: FleetStore;
  readonly #local: LocalRecords;
  /** When each began. */
  readonly #waiting = new Map<string, number>();

  constructor({ fleet, local }: { readonly fleet: FleetStore; readonly local: LocalRecords }) {
    this.#fleet = fleet;
    this.#local = local;
  }

  note(attacks: readonly Attack[]): void {
    for (const { id, started_on } of attacks) this.#waiting.set(id, Date.parse(started_on));
  }

  /** Those that wait, the one that began first before the others: what is missing in the end are the last ones. */
  async tell(self: Self): Promise<void> {
    if (this.#waiting.size > MAX_WAITING) return this.tellFrom(self, Math.min(...this.#waiting.values()));
    const ids = [...this.#waiting].sort(([, one], [, other]) => one - other).map(([id]) => id);
    for (let first = 0; first < ids.length; first += ATTACKS_PER_WRITE) {
      const some = ids.slice(first, first + ATTACKS_PER_WRITE);
      for (const id of some) this.#waiting.delete(id);
      await this.#put(
        self,
        some.flatMap((id) => this.#local.attack(id) ?? []),
      );
    }
  }

  /** All that began from a moment on. */
  async tellFrom(self: Self, fromMs: number): Promise<void> {
    this.#waiting.clear();
    let after: readonly [number, string] = [fromMs - 1, '\uffff'];
    for (;;) {
      const attacks = this.#local.attacksAfter(after, ATTACKS_PER_WRITE);
      await this.#put(self, attacks);
      const last = attacks.at(-1);
      if (last === undefined || attacks.length < ATTACKS_PER_WRITE) return;
      after = [Date.parse(last.started_on), last.id];
    }
  }

  async #put(self: Self, attacks: readonly Attack[]): Promise<void> {
    if (attacks.length > 0) await this.#fleet.putAttacks(self, attacks);
  }
}
