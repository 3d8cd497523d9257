/** Keeps the newest names and networks of sampled queries that were limited or would be dropped, by zone. */
import { networkOf } from '../attacks/index.ts';
import { type AttackDetector, type SampleBatch, samplesIn, type Zone } from '../detector/index.ts';
import { nameToText, questionOfWire } from '../protocol/index.ts';

const MAX_EXAMPLES = 20;

interface Examples {
  readonly names: Set<string>;
  readonly networks: Set<string>;
}

export class LimitedExamples {
  readonly #detector: AttackDetector;
  readonly #byZone = new Map<Zone, Examples>();

  constructor(detector: AttackDetector) {
    this.#detector = detector;
  }

  add(batches: readonly SampleBatch[]): void {
    if (batches.length === 0) return;
    this.prune();
    for (const batch of batches)
      for (const { name, type, client } of samplesIn(batch)) {
        const zone = this.#detector.zones.find(questionOfWire(name, type, this.#detector.key));
        if (!this.#detector.isAssessed(zone)) continue;
        const examples = this.#byZone.get(zone) ?? { names: new Set(), networks: new Set() };
        this.#byZone.set(zone, examples);
        addNewest(examples.names, nameToText(name));
        addNewest(examples.networks, networkOf(client));
      }
  }

  /** Deletes the examples of zones that are no longer assessed. */
  prune(): void {
    for (const zone of this.#byZone.keys()) if (!this.#detector.isAssessed(zone)) this.#byZone.delete(zone);
  }

  /** Returns at most 20 names and networks, the newest first. */
  of(zone: Zone): { names: string[]; networks: string[] } {
    const { names = [], networks = [] } = this.#byZone.get(zone) ?? {};
    return { names: [...names].reverse(), networks: [...networks].reverse() };
  }
}

function addNewest(values: Set<string>, value: string): void {
  values.delete(value);
  values.add(value);
  const [oldest] = values;
  if (values.size > MAX_EXAMPLES && oldest !== undefined) values.delete(oldest);
}
