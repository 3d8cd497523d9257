import type { Registry } from 'prom-client';

/** The metrics of this server, as many processes as it may be. */
export type ReadMetrics = () => Promise<Registry> | Registry;

/** The counts of a metric, added up by some of its labels. */
export type Counts = Readonly<Record<string, number>>;

/** Of a histogram it is the number of what was observed. Empty where there is no such metric. */
export async function sums(registry: Registry, name: string, labels: readonly string[]): Promise<Counts> {
  const metric = await registry.getSingleMetric(name)?.get();
  const counts: Record<string, number> = {};
  for (const { labels: values, value, metricName = name } of (metric?.values ?? []) as readonly Value[]) {
    if (metricName !== name && metricName !== `${name}_count`) continue;
    const key = labels.map((label) => values[label]).join(' ');
    counts[key] = (counts[key] ?? 0) + value;
  }
  return counts;
}

/** As the library gives it; its types leave out the name, which histograms have. */
interface Value {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly value: number;
  readonly metricName?: string;
}
