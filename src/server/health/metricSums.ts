import type { Registry } from 'prom-client';

/** Reads the metrics of this server, merged from all its processes. */
export type ReadMetrics = () => Promise<Registry> | Registry;

/** Sums of a metric. Each key contains the values of selected labels, separated by spaces. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Returns the sum of a metric for each combination of label values; for a histogram, the number of observations.
 * Empty if there is no such metric.
 */
export async function sumByLabels(
  registry: Registry,
  name: string,
  labels: readonly string[],
): Promise<Counts> {
  const metric = await registry.getSingleMetric(name)?.get();
  const counts: Record<string, number> = {};
  for (const { labels: values, value, metricName = name } of (metric?.values ?? []) as readonly Value[]) {
    if (metricName !== name && metricName !== `${name}_count`) continue;
    const key = labels.map((label) => values[label]).join(' ');
    counts[key] = (counts[key] ?? 0) + value;
  }
  return counts;
}

/** A value as prom-client returns it; its types omit `metricName`, which histograms have. */
interface Value {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly value: number;
  readonly metricName?: string;
}
