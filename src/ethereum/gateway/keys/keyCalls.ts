import type { Registry } from 'prom-client';
import { type CounterSeries, SeriesCounter } from '../../../platform/metrics/index.ts';

/** Maximum number of API keys with their own metric series. The calls of all further keys are counted as `other`. */
const MAX_COUNTED = 1_000;
const OTHER = 'other';

/** Counters of the calls with one API key. `limited` also counts calls above the rate limit of the client address. */
export type CallsOfKey = Readonly<Record<'admitted' | 'limited' | 'forbidden', CounterSeries>>;

/** Counts the calls of each API key. The label is the id of the key, which is not secret. */
export class KeyCalls {
  readonly #counter: SeriesCounter<'key' | 'outcome'>;
  readonly #keys = new Map<string, CallsOfKey>();
  /** Called with the id of the API key for each request that has a key. */
  used: (id: string) => void = () => undefined;

  constructor(registry: Registry) {
    this.#counter = new SeriesCounter({
      name: 'floodgate_gateway_key_calls_total',
      help: 'Calls with an API key, by key id and outcome.',
      labelNames: ['key', 'outcome'],
      registers: [registry],
    });
  }

  of(id: string): CallsOfKey {
    this.used(id);
    const key = this.#keys.has(id) || this.#keys.size < MAX_COUNTED ? id : OTHER;
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const series = (outcome: string): CounterSeries => this.#counter.series({ key, outcome });
    const made: CallsOfKey = {
      admitted: series('admitted'),
      limited: series('limited'),
      forbidden: series('forbidden'),
    };
    this.#keys.set(key, made);
    return made;
  }
}
