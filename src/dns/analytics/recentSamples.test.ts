import { expect, it } from 'vitest';
import { LimitedSamples, type SampleBatch } from '../detector/index.ts';
import { HEADER_BYTES, nameToWire, queryPacket } from '../protocol/index.ts';
import { RecentSamples } from './recentSamples.ts';

const NOW = Date.UTC(2026, 10, 21);

function batch(queries: number): SampleBatch {
  const samples = new LimitedSamples();
  for (let i = 0; i < queries; i++) {
    const wire = nameToWire(`n${i}.example.com`);
    samples.note(queryPacket(wire, 16), HEADER_BYTES + wire.length + 4, '198.51.100.7');
  }
  return samples.take() as SampleBatch; // queries were noted
}

it('samples of a second are kept for ten minutes, at most ten of them, from all threads', () => {
  const samples = new RecentSamples();
  samples.add([batch(300), batch(4)], NOW + 1000);
  samples.add([batch(1)], NOW + 2000);
  const { limited, queries } = samples.of(NOW + 999);
  expect([limited, queries.length]).toEqual([304, 9]);
  expect(queries[0]).toMatchObject({ type: 'TXT', network: '198.51.100.0/24' });
  expect(samples.of(NOW + 1000).queries).toEqual([
    { name: 'n0.example.com', type: 'TXT', network: '198.51.100.0/24' },
  ]);
  expect(samples.of(Number.NaN)).toEqual({ limited: 0, queries: [] });
  // After a late call, each of the seconds since the last call has the samples.
  samples.add([batch(30)], NOW + 5500);
  expect([samples.of(NOW + 2000), samples.of(NOW + 4000)].map(({ limited }) => limited)).toEqual([10, 10]);
  expect(samples.of(NOW + 3000).queries).toHaveLength(10);
  samples.add([], NOW + 601_000);
  expect([samples.of(NOW).limited, samples.of(NOW + 1000).limited]).toEqual([0, 1]);
  // After the clock was set back, samples from the future are discarded.
  samples.add([], NOW);
  expect(samples.of(NOW + 1000).limited).toBe(0);
});
