/** Metrics: cheap ones for a hot path, and gauges that are read when somebody asks. */
export { gaugesOf } from './gauges.ts';
export { type Tally, tallied } from './tallied.ts';
export { TalliedSeries, talliedHistogram } from './talliedHistogram.ts';
