import { Counter, type Registry } from 'prom-client';

/** One series of a counter, counted in place. */
export class Tally {
  count = 0;

  inc(): void {
    this.count++;
  }
}

interface TalliedOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly registry: Registry;
}

/**
 * A counter whose series are counted here and handed over when the metrics are read: what the library does for each
 * increase costs as much as half of a small answer. The series made by the returned function are there from then on.
 */
export function tallied<Label extends string>({
  registry,
  labelNames,
  ...options
}: TalliedOptions<Label>): (labels: Readonly<Record<Label, string>>) => Tally {
  const tallies: { readonly labels: Readonly<Record<Label, string>>; readonly tally: Tally }[] = [];
  new Counter<Label>({
    ...options,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      for (const { labels, tally } of tallies) {
        this.inc(labels, tally.count);
        tally.count = 0;
      }
    },
  });
  return (labels) => {
    const tally = new Tally();
    tallies.push({ labels, tally });
    return tally;
  };
}
