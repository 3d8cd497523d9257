/** Which zone a name lies in: the deepest known suffix, found by the suffix hashes that reading left behind. */
import type { HashKey } from '../nameHash.ts';
import { nameToText, nameToWire } from '../wire/name.ts';
import { type Question, questionSuffix } from '../wire/question.ts';
import { questionOfWire } from '../wire/questionOf.ts';
import { Zone } from './zone.ts';

/** Zones and wildcard subtrees together. One more is counted with the zone above it. */
export const MAX_ZONES = 4096;
/** Four times as many places as zones: a suffix that is no zone is told in one look, nearly always. */
const PLACES = 16_384;

export class ZoneTree {
  /** For names that lie in no known zone. */
  readonly outside = new Zone('');
  readonly #key: HashKey;
  readonly #zones: Zone[] = [];
  readonly #high = new Int32Array(PLACES);
  readonly #low = new Int32Array(PLACES);
  /** Index into the zones plus one; 0 for an empty place. */
  readonly #index = new Uint16Array(PLACES);

  constructor(key: HashKey) {
    this.#key = key;
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
    const found = this.#zones[this.#placeOf(high, low) - 1];
    if (found !== undefined) return found;
    if (this.#zones.length >= MAX_ZONES) return undefined;
    const zone = new Zone(nameToText(wire));
    this.#zones.push(zone);
    let place = high & (PLACES - 1);
    while (this.#index[place] !== 0) place = (place + 1) & (PLACES - 1);
    this.#high[place] = high;
    this.#low[place] = low;
    this.#index[place] = this.#zones.length;
    return zone;
  }

  /** The deepest zone that the name of the question lies in. */
  find(question: Question): Zone {
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const index = this.#placeOf(question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      if (index !== 0) return this.#zones[index - 1] ?? this.outside;
    }
    return this.outside;
  }

  #placeOf(high: number, low: number): number {
    for (let place = high & (PLACES - 1); ; place = (place + 1) & (PLACES - 1)) {
      const index = this.#index[place] ?? 0;
      if (index === 0 || (this.#high[place] === high && this.#low[place] === low)) return index;
    }
  }
}
