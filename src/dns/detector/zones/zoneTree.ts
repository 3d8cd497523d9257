/** Which zone a name lies in: the deepest known suffix, found by the suffix hashes that reading left behind. */

import {
  type HashKey,
  nameToText,
  nameToWire,
  type Question,
  questionOfWire,
  questionSuffix,
} from '../../protocol/index.ts';
import type { ZoneLimits } from './alarms.ts';
import type { SharedZone } from './sharedZone.ts';
import { Zone } from './zone.ts';
import { MAX_ZONES, type ZoneIndex } from './zoneIndex.ts';

export interface ZoneTreeDependencies {
  readonly index: ZoneIndex;
  readonly sharedOf: (number: number) => SharedZone;
  /** What is not learned of the zone of this name. */
  readonly limitsOf: (name: string) => ZoneLimits;
}

export class ZoneTree {
  /** For names that lie in no known zone. */
  readonly outside: Zone;
  readonly #key: HashKey;
  readonly #parts: ZoneTreeDependencies;
  /** A zone's number is its place here plus one. */
  readonly #zones: Zone[] = [];

  constructor(key: HashKey, parts: ZoneTreeDependencies) {
    this.#key = key;
    this.#parts = parts;
    this.outside = this.#make('', 0);
  }

  /** Every known zone, the one for names outside last. */
  all(): readonly Zone[] {
    return [...this.#zones, this.outside];
  }

  /** The zone of exactly this name. */
  get(name: string): Zone | undefined {
    const text = nameToText(nameToWire(name));
    return this.#zones.find((zone) => zone.name === text);
  }

  /** The zone of this name, made when it is new. Undefined when there are {@link MAX_ZONES} already. */
  add(name: string): Zone | undefined {
    return this.addWire(nameToWire(name));
  }

  /** As {@link add}, for a name in wire form. The root is the zone of everything: it is the one outside. */
  addWire(wire: Uint8Array): Zone | undefined {
    const question = questionOfWire(wire, 0, this.#key);
    if (question.labels === 0) return this.outside;
    const [high, low] = questionSuffix(question, question.labels);
    const { index } = this.#parts;
    const found = this.#zones[index.get(high, low) - 1];
    if (found !== undefined) return found;
    if (this.#zones.length >= MAX_ZONES) return undefined;
    const number = this.#zones.length + 1;
    // What the threads share is in order before anybody finds the zone.
    const zone = this.#make(nameToText(wire), number);
    this.#zones.push(zone);
    index.add(high, low, number);
    return zone;
  }

  /** The deepest zone that the name of the question lies in. */
  find(question: Question): Zone {
    return this.byNumber(this.#parts.index.find(question));
  }

  /** The zone with this number; 0 and any other number that is none's for the one outside. */
  byNumber(number: number): Zone {
    return this.#zones[number - 1] ?? this.outside;
  }

  #make(name: string, number: number): Zone {
    const { sharedOf, limitsOf } = this.#parts;
    return new Zone(name, { number, shared: sharedOf(number), limits: limitsOf(name) });
  }
}
