import type { Counter } from 'prom-client';

export type CounterSeries = Pick<Counter.Internal, 'inc'>;

/**
 * Returns the series of a counter with the given labels. The series is exported from now on, with 0 until it is
 * increased.
 */
export function counterSeries<Label extends string>(
  counter: Counter<Label>,
  labels: Readonly<Record<Label, string>>,
): CounterSeries {
  counter.inc(labels, 0);
  return counter.labels(labels);
}
