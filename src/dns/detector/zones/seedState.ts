/** Seeding of a zone: all its names are added to the profile from a file or a transfer. */
import { nextGeneration } from '../profile/entry.ts';

export class SeedState {
  /** Whether all names of the zone are in the profile. */
  known = false;
  expected = false;
  /** Whether some names did not fit into the profile. An unknown name may then exist. */
  incomplete = false;
  /** Finished seeds, modulo 8. Tells names that the last seed listed from those that it did not list. */
  generation = 0;
  #isReading = false;

  /** Starts a seed. Returns its generation: the number of the seed, modulo 8. */
  begin(): number {
    this.#isReading = true;
    return nextGeneration(this.generation);
  }

  /** Finishes the seed. The names added since {@link begin} are all names of the zone. */
  end(): void {
    if (this.#isReading) this.generation = nextGeneration(this.generation);
    this.#isReading = false;
  }

  /** Whether the zone still lists names of this generation. True for all while a seed is expected or running. */
  holds(generation: number): boolean {
    if (!this.known) return this.expected;
    return generation === this.generation || this.#isReading;
  }
}
