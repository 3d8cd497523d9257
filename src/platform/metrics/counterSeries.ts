import type { Counter } from 'prom-client';

export type CounterSeries = Pick<Counter.Internal, 'inc'>;

/** Returns a counter's series with the given labels. From now on it is exported, even while it is 0. */
export function counterSeries<Label extends string>(
  counter: Counter<Label>,
  labels: Readonly<Record<Label, string>>,
): CounterSeries {
  counter.inc(labels, 0);
  return counter.labels(labels);
}
