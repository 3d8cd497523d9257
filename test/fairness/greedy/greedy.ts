import type { Random } from '../../support/random.ts';
import type { Target } from '../target.ts';

export interface GreedyContext {
  readonly target: Target;
  /** Address from which the client connects. */
  readonly address: string;
  readonly random: Random;
  /** Factor for numbers of connections and rates, at most 1. */
  readonly size: number;
}

/** A running greedy client. */
export interface Greedy {
  /** Number of connections, requests or packets so far, whichever the client has most of. */
  readonly count: number;
  stop(): void;
}

/** Starts a greedy client. */
export type StartGreedy = (context: GreedyContext) => Greedy;

/** Returns a number of connections, at least 1. */
export const sized = ({ size }: GreedyContext, atFullSize: number): number =>
  Math.max(1, Math.round(size * atFullSize));
