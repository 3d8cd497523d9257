/** Some of the queries that were limited, or would have been, in each second of the last ten minutes. */
import { networkOf } from '../attacks/index.ts';
import { type SampleBatch, samplesIn } from '../detector/index.ts';
import { nameToText, typeName } from '../protocol/index.ts';
import { KEPT_SECONDS } from './recentRates.ts';

/** With names of 255 octets, the queries of ten minutes need about 6 MB. */
const MAX_PER_SECOND = 10;
const MS_PER_SECOND = 1000;

export interface SampledSecond {
  /** Number of limited queries that were reported in this second. */
  readonly limited: number;
  readonly queries: readonly { readonly name: string; readonly type: string; readonly network: string }[];
}

const NONE: SampledSecond = { limited: 0, queries: [] };

export class RecentSamples {
  readonly #bySecond = new Map<number, SampledSecond>();
  #lastSecond = Number.NEGATIVE_INFINITY;

  /**
   * Adds the samples of the seconds from the last call to `nowMs`. They count evenly in each second, like the rates of a
   * graph. Threads report up to one second late. The batches are random samples.
   */
  add(batches: readonly SampleBatch[], nowMs: number): void {
    const last = Math.floor(nowMs / MS_PER_SECOND) - 1;
    for (const old of this.#bySecond.keys())
      if (old <= last - KEPT_SECONDS || old > last) this.#bySecond.delete(old);
    const isContinued = this.#lastSecond < last && this.#lastSecond >= last - KEPT_SECONDS;
    const first = isContinued ? this.#lastSecond + 1 : last;
    this.#lastSecond = last;
    if (batches.length === 0) return;
    const share = Math.ceil(MAX_PER_SECOND / batches.length);
    const added = batches.flatMap((batch) =>
      [...samplesIn(batch)].slice(0, share).map(({ name, type, client }) => ({
        name: nameToText(name),
        type: typeName(type),
        network: networkOf(client),
      })),
    );
    const perSecond = Math.ceil(batches.reduce((total, { seen }) => total + seen, 0) / (last - first + 1));
    for (let second = first; second <= last; second++) {
      const { limited, queries } = this.#bySecond.get(second) ?? NONE;
      this.#bySecond.set(second, {
        limited: limited + perSecond,
        queries: [...queries, ...added].slice(0, MAX_PER_SECOND),
      });
    }
  }

  of(ms: number): SampledSecond {
    return this.#bySecond.get(Math.floor(ms / MS_PER_SECOND)) ?? NONE;
  }
}
