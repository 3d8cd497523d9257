import { AggregatorRegistry, type Registry } from 'prom-client';

/** A metric as prom-client exports it to JSON. */
export type MetricJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

const aggregate = (metrics: readonly (readonly MetricJson[])[]): Registry =>
  AggregatorRegistry.aggregate(metrics as object[]) as Registry; // prom-client declares `object[]` and `void`

/** Sums the metrics of several processes. Metrics that prom-client does not sum have the value in `own`. */
export async function sumMetrics(
  own: Registry,
  others: readonly (readonly MetricJson[])[],
): Promise<Registry> {
  const first = await own.getMetricsAsJSON();
  const all = aggregate([first, ...others]);
  for (const { name, aggregator } of first) {
    const metric = aggregator === 'omit' ? own.getSingleMetric(name) : undefined;
    if (metric !== undefined) all.registerMetric(metric as Parameters<Registry['registerMetric']>[0]);
  }
  return all;
}

const KEPT_TYPES: readonly unknown[] = ['counter', 'histogram'];

/** Adds the counters and histograms of an ended process to those that ended before, so that no sum decreases. */
export const addEndedProcess = (
  before: readonly MetricJson[],
  ended: readonly MetricJson[],
): Promise<readonly MetricJson[]> =>
  aggregate([before, ended.filter(({ type }) => KEPT_TYPES.includes(type))]).getMetricsAsJSON();
