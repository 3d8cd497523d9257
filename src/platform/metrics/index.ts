/** Metrics: counter series, and gauges that are read when metrics are collected. */
export { gaugesOf } from './gauges.ts';
export { addEndedProcess, type MetricJson, sumMetrics } from './metricsOfProcesses.ts';
export { collectProcessMetrics } from './processMetrics.ts';
export { type CounterSeries, SeriesCounter } from './seriesCounter.ts';
