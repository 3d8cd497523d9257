import { Counter } from 'prom-client';

export interface CounterSeries {
  inc(by?: number): void;
}

class Series implements CounterSeries {
  added = 0;

  inc(by = 1): void {
    this.added += by;
  }
}

/**
 * A counter with series that are incremented often. A series counts in a variable, which is added to the counter when
 * metrics are collected, because `inc` of prom-client creates and looks up a string of all labels.
 */
export class SeriesCounter<Label extends string> extends Counter<Label> {
  readonly #series = new Map<Readonly<Record<Label, string>>, Series>();

  /** Returns a new series with the given labels. From now on it is exported, even while it is 0. */
  series(labels: Readonly<Record<Label, string>>): CounterSeries {
    this.inc(labels, 0);
    const series = new Series();
    this.#series.set(labels, series);
    return series;
  }

  override get(): ReturnType<Counter<Label>['get']> {
    for (const [labels, series] of this.#series) {
      this.inc(labels, series.added);
      series.added = 0;
    }
    return super.get();
  }
}
