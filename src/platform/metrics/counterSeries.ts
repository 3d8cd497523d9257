import type { Counter } from 'prom-client';

export type CounterSeries = Pick<Counter.Internal, 'inc'>;

/** Returns the counter's series with these labels. The series is exported from now on, starting at 0. */
export function counterSeries<Label extends string>(
  counter: Counter<Label>,
  labels: Readonly<Record<Label, string>>,
): CounterSeries {
  counter.inc(labels, 0);
  return counter.labels(labels);
}
