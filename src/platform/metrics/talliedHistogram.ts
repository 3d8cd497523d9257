import type { MetricType, Registry } from 'prom-client';

interface TalliedHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** One series of a histogram: how many values fell below each bound and above the last, and their sum. */
export class TalliedSeries {
  readonly counts: Float64Array;
  sum = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }

  /** As the text format wants them: buckets count all that is below their bound. None where there was no value. */
  valuesOf(name: string, labels: Labels<string>): object[] {
    const values = [];
    let count = 0;
    for (const [bucket, counted] of this.counts.entries()) {
      count += counted;
      const le = this.#bounds[bucket] ?? '+Inf';
      values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: count });
    }
    if (count === 0) return [];
    values.push({ metricName: `${name}_sum`, labels, value: this.sum });
    values.push({ metricName: `${name}_count`, labels, value: count });
    return values;
  }
}

/**
 * A histogram whose series are counted in place, as those of `tallied` are: what the library does for each value costs more
 * than to find its bucket. Returns what makes a series, which is shown once it has a value.
 */
export function talliedHistogram<Label extends string>({
  name,
  help,
  labelNames,
  buckets,
  registry,
}: TalliedHistogramOptions<Label>): (labels: Labels<Label>) => TalliedSeries {
  const all: { readonly labels: Labels<Label>; readonly series: TalliedSeries }[] = [];
  const metric = {
    name,
    help,
    labelNames,
    get: async () => ({
      name,
      help,
      // The library's types declare this as an enum that it does not export as a value.
      type: 'histogram' as unknown as MetricType.Histogram,
      aggregator: 'sum',
      values: all.flatMap(({ labels, series }) => series.valuesOf(name, labels)),
    }),
    reset: () => undefined,
  };
  // The registry wants of a metric no more than this.
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  return (labels) => {
    const series = new TalliedSeries(buckets);
    all.push({ labels, series });
    return series;
  };
}
