/** All known zones. Finds the deepest zone that contains a queried name, by the hashes of the name's suffixes. */

import {
  type HashKey,
  nameToText,
  nameToWire,
  type Question,
  questionOfWire,
  suffixHash,
} from '../../protocol/index.ts';
import type { ZoneLimits } from './alarms.ts';
import type { SharedZone } from './sharedZone.ts';
import { Zone } from './zone.ts';
import { MAX_ZONES, type ZoneIndex } from './zoneIndex.ts';

export interface ZoneTreeDependencies {
  readonly index: ZoneIndex;
  readonly sharedOf: (number: number) => SharedZone;
  readonly limitsOf: (name: string) => ZoneLimits;
}

export class ZoneTree {
  /** Zone that stands for all names outside every known zone. */
  readonly outside: Zone;
  readonly #key: HashKey;
  readonly #parts: ZoneTreeDependencies;
  /** Known zones, indexed by zone number minus one. */
  readonly #zones: Zone[] = [];

  constructor(key: HashKey, parts: ZoneTreeDependencies) {
    this.#key = key;
    this.#parts = parts;
    this.outside = this.#make('', 0);
  }

  /** Returns all known zones, and after them {@link outside}. */
  all(): readonly Zone[] {
    return [...this.#zones, this.outside];
  }

  get(name: string): Zone | undefined {
    const text = nameToText(nameToWire(name));
    return this.#zones.find((zone) => zone.name === text);
  }

  /**
   * Returns the zone with this name. Creates the zone if it does not exist, or returns undefined if there are already
   * {@link MAX_ZONES} zones.
   */
  add(name: string): Zone | undefined {
    return this.addWire(nameToWire(name));
  }

  /** Like {@link add}, for a name in wire form. For the root name, returns {@link outside}. */
  addWire(wire: Uint8Array): Zone | undefined {
    const question = questionOfWire(wire, 0, this.#key);
    if (question.labels === 0) return this.outside;
    const [high, low] = suffixHash(question, question.labels);
    const { index } = this.#parts;
    const found = this.#zones[index.get(high, low) - 1];
    if (found !== undefined) return found;
    if (this.#zones.length >= MAX_ZONES) return undefined;
    const number = this.#zones.length + 1;
    // Initialise the zone's shared memory before the zone is in the index, where other threads find it.
    const zone = this.#make(nameToText(wire), number);
    this.#zones.push(zone);
    index.add(high, low, number);
    return zone;
  }

  /** Returns the deepest zone that contains the queried name, or {@link outside}. */
  find(question: Question): Zone {
    return this.byNumber(this.#parts.index.find(question));
  }

  /** Returns the zone with this number. For 0 and unassigned numbers, returns {@link outside}. */
  byNumber(number: number): Zone {
    return this.#zones[number - 1] ?? this.outside;
  }

  #make(name: string, number: number): Zone {
    const { sharedOf, limitsOf } = this.#parts;
    return new Zone(name, { number, shared: sharedOf(number), limits: limitsOf(name) });
  }
}
