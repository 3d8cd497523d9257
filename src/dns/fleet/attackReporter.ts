import type { Attack } from '../attacks/index.ts';
import type { FleetStore, MemberIdentity } from './fleetStore.ts';
import type { LocalRecords } from './localRecords.ts';

const ATTACKS_PER_WRITE = 50;
/** Maximum number of queued attack ids. If there are more, all attacks since the start of the oldest are reported. */
const MAX_WAITING = 500;

/** Writes new and changed attacks of this guard to the database that all guards share. */
export class AttackReporter {
  readonly #fleet: FleetStore;
  readonly #local: LocalRecords;
  /** Queued attacks: attack id, and start time in milliseconds. */
  readonly #waiting = new Map<string, number>();

  constructor({ fleet, local }: { readonly fleet: FleetStore; readonly local: LocalRecords }) {
    this.#fleet = fleet;
    this.#local = local;
  }

  enqueue(attacks: readonly Attack[]): void {
    for (const { id, started_on } of attacks) this.#waiting.set(id, Date.parse(started_on));
  }

  /** Reports the queued attacks, oldest first. If the report is interrupted, only the newest attacks are missing. */
  async report(self: MemberIdentity): Promise<void> {
    if (this.#waiting.size > MAX_WAITING) return this.reportFrom(self, Math.min(...this.#waiting.values()));
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

  async reportFrom(self: MemberIdentity, fromMs: number): Promise<void> {
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

  async #put(self: MemberIdentity, attacks: readonly Attack[]): Promise<void> {
    if (attacks.length > 0) await this.#fleet.putAttacks(self, attacks);
  }
}
