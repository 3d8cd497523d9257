import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { talliedHistogram } from './talliedHistogram.ts';

const options = {
  name: 'seconds',
  help: 'How long.',
  labelNames: ['method'] as const,
  buckets: [0.1, 1, 2.5],
};

test('is shown as the library would show the same values', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.constantFrom('a', 'b'),
          fc.oneof(fc.constantFrom(0.1, 1, 2.5), fc.double({ min: 0, max: 5, noNaN: true })),
        ),
      ),
      async (values) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const newSeries = talliedHistogram({ ...options, registry: ours });
        const library = new Histogram({ ...options, buckets: [...options.buckets], registers: [theirs] });
        const methods = [...new Set(values.map(([method]) => method))];
        const series = new Map(methods.map((method) => [method, newSeries({ method })]));
        newSeries({ method: 'never called' });
        for (const [method, value] of values) {
          series.get(method)?.observe(value);
          library.observe({ method }, value);
        }
        expect(await ours.metrics()).toBe(await theirs.metrics());
      },
    ),
  );
});
