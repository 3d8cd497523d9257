import type { TraceContext } from './traceContext.ts';

/** Samplers of `OTEL_TRACES_SAMPLER`. `parentbased_traceidratio` follows the flag in a request's `traceparent`. */
export type SamplerName = 'always_on' | 'traceidratio' | 'parentbased_traceidratio';

export interface SamplerOptions {
  readonly sampler: SamplerName;
  /** Share of traces that are recorded, from 0 to 1. Ignored by `always_on`. */
  readonly ratio: number;
}

export type Sampler = (parent: TraceContext | undefined) => boolean;

/** Number of hex digits at the end of a trace id (56 bits) that are random in all versions of the standard. */
const RANDOM_DIGITS = 14;
const RANDOM_IDS = 2 ** 56;

export function samplerOf({ sampler, ratio }: SamplerOptions, random: () => number = Math.random): Sampler {
  const share = sampler === 'always_on' ? 1 : ratio;
  // If a request has a parent span, its trace id decides, so that all services of a trace decide identically.
  const isChosen = (parent: TraceContext | undefined): boolean =>
    parent === undefined
      ? random() < share
      : Number.parseInt(parent.traceId.slice(-RANDOM_DIGITS), 16) >= (1 - share) * RANDOM_IDS;
  if (sampler !== 'parentbased_traceidratio') return isChosen;
  return (parent) => (parent === undefined ? isChosen(parent) : parent.isSampled);
}
