/** Metrics: cheap ones for a hot path, and gauges that are read when somebody asks. */
export { gaugesOf } from './gauges.ts';
export { TalliedSeries, talliedHistogram } from './talliedHistogram.ts';
