import type { TraceContext } from './traceContext.ts';

/** As `OTEL_TRACES_SAMPLER` names them. `parentbased_…`: whoever asks decides, where the request says so. */
type Decision = 'always_on' | 'always_off' | 'traceidratio';
export type SamplerName = Decision | `parentbased_${Decision}`;

export interface SamplerOptions {
  readonly sampler: SamplerName;
  /** Of those that have a ratio: the share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
}

/** Whether a trace is recorded. */
export type Sampler = (parent: TraceContext | undefined) => boolean;

/** Digits of an id that are random in every version of the standard: the last 56 bits. */
const RANDOM_DIGITS = 14;
const RANDOM_IDS = 2 ** 56;

export function samplerOf({ sampler, ratio }: SamplerOptions, random: () => number = Math.random): Sampler {
  const share = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : ratio;
  // By its id, so that all who see a trace decide alike.
  const isChosen = (parent: TraceContext | undefined): boolean =>
    parent === undefined
      ? random() < share
      : Number.parseInt(parent.traceId.slice(-RANDOM_DIGITS), 16) >= (1 - share) * RANDOM_IDS;
  if (!sampler.startsWith('parentbased_')) return isChosen;
  return (parent) => (parent === undefined ? isChosen(parent) : parent.isSampled);
}
