/** State of the seeding of one zone. Seeding adds all names of the zone to the profile, from a file or a transfer. */
import { nextGeneration } from '../profile/entry.ts';

export class SeedState {
  /** Whether all names of the zone are in the profile. */
  known = false;
  /** Whether the zone will be seeded. */
  expected = false;
  /** Whether some names of the zone did not fit into the profile. If so, an unknown name may exist in the zone. */
  incomplete = false;
  /** Whether nearly all listed names are reversed addresses, as in a blocklist. Most queried addresses are not listed. */
  listsAddresses = false;
  /** Whether some names of the last finished seeding did not fit. Remains true while the zone is read again. */
  wasIncomplete = false;
  /** Number of finished seedings, modulo 8. Names that the last seeding did not add have another generation. */
  generation = 0;
  #isReading = false;

  /** Begins a seeding. Returns the generation of the names that it adds: the next value of {@link generation}. */
  begin(): number {
    this.#isReading = true;
    return nextGeneration(this.generation);
  }

  /** Ends a seeding. All names of the zone were added since {@link begin}. */
  end(): void {
    if (this.#isReading) this.generation = nextGeneration(this.generation);
    this.#isReading = false;
  }

  /**
   * Whether the zone still lists the names of this generation. True for every generation while the zone's first
   * seeding is expected or any seeding is running.
   */
  holds(generation: number): boolean {
    if (!this.known) return this.expected;
    return generation === this.generation || this.#isReading;
  }
}
