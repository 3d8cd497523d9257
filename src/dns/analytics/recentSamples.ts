/** Some of the queries that were limited, or would have been, in each second of the last ten minutes. */
import { networkOf } from '../attacks/index.ts';
import { type SampleBatch, samplesIn } from '../detector/index.ts';
import { nameToText, typeName } from '../protocol/index.ts';
import { KEPT_SECONDS } from './recentRates.ts';

/** With names of 255 octets, the queries of ten minutes need about 6 MB. */
const MAX_PER_SECOND = 10;
const MS_PER_SECOND = 1000;

export interface SampledSecond {
  /** Number of limited queries in this second. */
  readonly limited: number;
  readonly queries: readonly { readonly name: string; readonly type: string; readonly network: string }[];
}

const NONE: SampledSecond = { limited: 0, queries: [] };

export class RecentSamples {
  readonly #bySecond = new Map<number, SampledSecond>();

  /** Adds the samples of the second that ends at `nowMs`. The batches themselves are random samples. */
  add(batches: readonly SampleBatch[], nowMs: number): void {
    const second = Math.floor(nowMs / MS_PER_SECOND) - 1;
    for (const old of this.#bySecond.keys())
      if (old <= second - KEPT_SECONDS || old > second) this.#bySecond.delete(old);
    if (batches.length === 0) return;
    const share = Math.ceil(MAX_PER_SECOND / batches.length);
    const { limited, queries } = this.#bySecond.get(second) ?? NONE;
    const added = batches.flatMap((batch) =>
      [...samplesIn(batch)].slice(0, share).map(({ name, type, client }) => ({
        name: nameToText(name),
        type: typeName(type),
        network: networkOf(client),
      })),
    );
    this.#bySecond.set(second, {
      limited: limited + batches.reduce((total, { seen }) => total + seen, 0),
      queries: [...queries, ...added].slice(0, MAX_PER_SECOND),
    });
  }

  of(ms: number): SampledSecond {
    return this.#bySecond.get(Math.floor(ms / MS_PER_SECOND)) ?? NONE;
  }
}
