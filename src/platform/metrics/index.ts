/** Metrics: counter series, and gauges that are read when metrics are collected. */
export { type CounterSeries, counterSeries } from './counterSeries.ts';
export { gaugesOf } from './gauges.ts';
export { addEndedProcess, type MetricJson, sumMetrics } from './metricsOfProcesses.ts';
