/** Metrics that cost little on a hot path. */
export { TalliedSeries, talliedHistogram } from './talliedHistogram.ts';
