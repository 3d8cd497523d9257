/** Seeding of a zone: all its names are added to the profile from a file or a transfer. */
import { nextGeneration } from '../profile/entry.ts';

export class SeedState {
  /** Whether all names of the zone are in the profile. */
  known = false;
  expected = false;
  /** Whether some names did not fit into the profile. If so, a name that the profile does not contain may exist. */
  incomplete = false;
  /** Number of finished seedings, modulo 8. Names that the last seeding did not add have an older generation. */
  generation = 0;
  #isReading = false;

  /** Begins to add all names of the zone. Returns their generation, which is the next value of {@link generation}. */
  begin(): number {
    this.#isReading = true;
    return nextGeneration(this.generation);
  }

  /** Marks the end of adding names. The names added since {@link begin} are all names of the zone. */
  end(): void {
    if (this.#isReading) this.generation = nextGeneration(this.generation);
    this.#isReading = false;
  }

  /** Whether the zone still lists names of this generation. True for all while a seeding is expected or running. */
  holds(generation: number): boolean {
    if (!this.known) return this.expected;
    return generation === this.generation || this.#isReading;
  }
}
