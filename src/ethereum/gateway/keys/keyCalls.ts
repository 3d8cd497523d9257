import type { Registry } from 'prom-client';
import { type Tally, tallied } from '../../../platform/metrics/index.ts';

/** The calls of more keys than this are counted together, as those of `other`. */
const MAX_COUNTED = 1_000;
const OTHER = 'other';

/** Calls of one key: admitted, over its rate or its address's, of a method that it may not call. */
export type CallsOfKey = Readonly<Record<'admitted' | 'limited' | 'forbidden', Tally>>;

/** Counts the calls of each API key, by its id, which is no secret. */
export class KeyCalls {
  readonly #series: (labels: Readonly<Record<'key' | 'outcome', string>>) => Tally;
  readonly #keys = new Map<string, CallsOfKey>();
  /** Hears of each request with a key. */
  used: (id: string) => void = () => undefined;

  constructor(registry: Registry) {
    this.#series = tallied({
      name: 'floodgate_gateway_key_calls_total',
      help: 'Calls with an API key, by its id and what became of them.',
      labelNames: ['key', 'outcome'],
      registry,
    });
  }

  of(id: string): CallsOfKey {
    this.used(id);
    const key = this.#keys.has(id) || this.#keys.size < MAX_COUNTED ? id : OTHER;
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const tally = (outcome: string): Tally => this.#series({ key, outcome });
    const made: CallsOfKey = {
      admitted: tally('admitted'),
      limited: tally('limited'),
      forbidden: tally('forbidden'),
    };
    this.#keys.set(key, made);
    return made;
  }
}
