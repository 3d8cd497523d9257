/** What the guard has of a zone's own list of names: nothing, the expectation of it, or all of it. */
import { nextGeneration } from '../profile/entry.ts';

export class SeedOfZone {
  /** Whether all names of the zone are in the profile: it was read from a file or by transfer. */
  known = false;
  /** Whether its names are to come. */
  expected = false;
  /** Whether names that it lists found no room in the profile: then what is not there says nothing. */
  incomplete = false;
  /** Counts the times that it was read, so that a name which only an earlier one had can be told. */
  generation = 0;
  #isReading = false;

  /** Begins to read the names; the generation that they are noted under. */
  begin(): number {
    this.#isReading = true;
    return nextGeneration(this.generation);
  }

  /** The names noted since {@link begin} are all that the zone has. */
  end(): void {
    if (this.#isReading) this.generation = nextGeneration(this.generation);
    this.#isReading = false;
  }

  /** Whether the zone still has a name that it had in this generation: all of them, while they are only expected. */
  holds(generation: number): boolean {
    if (!this.known) return this.expected;
    return generation === this.generation || this.#isReading;
  }
}
