import { expect, it } from 'vitest';
import { readMetrics } from './readMetrics.ts';

it('readMetrics parses values and quoted labels and ignores other lines', () => {
  const text = [
    '# HELP a_total What it "counts"',
    '# TYPE a_total counter',
    'a_total 3',
    'b{one="x",two="a \\"b\\" \\\\ c\\nd, e=\\"f\\""} -1.5e-7 1700000000000',
    'c NaN',
    'd_bucket{le="+Inf"} 7',
    'not a metric at all',
    'e{broken="} 1',
    'a'.repeat(100_000),
  ].join('\n');
  expect(readMetrics(text)).toEqual([
    { name: 'a_total', labels: {}, value: 3 },
    { name: 'b', labels: { one: 'x', two: 'a "b" \\ c\nd, e="f"' }, value: -1.5e-7 },
    { name: 'c', labels: {}, value: Number.NaN },
    { name: 'd_bucket', labels: { le: '+Inf' }, value: 7 },
    { name: 'e', labels: {}, value: 1 },
  ]);
});
