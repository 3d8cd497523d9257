/** All known zones. Finds the deepest zone that contains a queried name, by the hashes of the name's suffixes. */

import { MAX_ZONE_POLICIES, type ZonePolicy } from '../../../rules/index.ts';
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
  readonly limits: ZoneLimits;
  readonly policyOf: (name: string) => ZonePolicy | undefined;
  /** Applies the rule in force to a new zone. */
  readonly prepare: (zone: Zone) => void;
}

/** Zones that are not reserved for policies. */
const MAX_OTHER_ZONES = MAX_ZONES - MAX_ZONE_POLICIES;

export class ZoneTree {
  /** Zone that stands for all names outside every known zone. */
  readonly outside: Zone;
  readonly #key: HashKey;
  readonly #parts: ZoneTreeDependencies;
  /** Known zones, indexed by zone number minus one. */
  readonly #zones: Zone[] = [];
  /** Number of zones that were added because a policy names them. */
  #reserved = 0;

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

  /** Like {@link add}, for a zone with a policy: uses the room that is reserved for these zones. */
  addReserved(name: string): Zone | undefined {
    return this.#addWire(nameToWire(name), true);
  }

  /**
   * Returns the zone with this name. Creates the zone if it does not exist, or returns undefined if there are too many
   * zones.
   */
  add(name: string): Zone | undefined {
    return this.addWire(nameToWire(name));
  }

  /** Like {@link add}, for a name in wire form. For the root name, returns {@link outside}. */
  addWire(wire: Uint8Array): Zone | undefined {
    return this.#addWire(wire, false);
  }

  #addWire(wire: Uint8Array, isReserved: boolean): Zone | undefined {
    const question = questionOfWire(wire, 0, this.#key);
    if (question.labels === 0) return this.outside;
    const [high, low] = suffixHash(question, question.labels);
    const { index } = this.#parts;
    const found = this.#zones[index.get(high, low) - 1];
    if (found !== undefined) return found;
    const isFull = this.#zones.length >= MAX_ZONES;
    if (isFull || (!isReserved && this.#zones.length - this.#reserved >= MAX_OTHER_ZONES)) return undefined;
    if (isReserved) this.#reserved++;
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
    const { sharedOf, limits, policyOf, prepare } = this.#parts;
    const zone = new Zone(name, { number, shared: sharedOf(number), limits, policy: policyOf(name) });
    prepare(zone);
    return zone;
  }
}
