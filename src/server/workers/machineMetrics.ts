import { AggregatorRegistry, type Registry } from 'prom-client';

/** A metric as the library gives it as JSON. */
export type MetricJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** The metrics of several processes as those of one, as the library adds them up; what it leaves out is the first one's. */
export function addedUp(own: Registry, others: readonly (readonly MetricJson[])[]): Promise<Registry> {
  return own.getMetricsAsJSON().then((first) => {
    const all = AggregatorRegistry.aggregate([
      [...first],
      ...others.map((metrics) => [...metrics]),
    ] as object[]) as Registry;
    for (const { name, aggregator } of first)
      if (aggregator === 'omit') {
        const metric = own.getSingleMetric(name);
        if (metric !== undefined) all.registerMetric(metric as Parameters<Registry['registerMetric']>[0]);
      }
    return all;
  });
}

const KEPT_TYPES: readonly unknown[] = ['counter', 'histogram'];

/** What a process has counted that is gone, added to what those before it had: a counter never goes down. */
export async function keptOf(
  before: readonly MetricJson[],
  gone: readonly MetricJson[],
): Promise<readonly MetricJson[]> {
  const counters = gone.filter(({ type }) => KEPT_TYPES.includes(type));
  const all = AggregatorRegistry.aggregate([[...before], counters] as object[]) as Registry;
  return all.getMetricsAsJSON();
}
