import { expect, it } from 'vitest';
import { AttackDetector, LimitedSamples, type SampleBatch } from '../detector/index.ts';
import { HEADER_BYTES, nameToWire, queryPacket, questionOf } from '../protocol/index.ts';
import { LimitedExamples } from './limitedExamples.ts';
import { zoneAssessments } from './zoneAssessments.ts';

const KEY = { high: 1, low: 2 };
const NOW = Date.UTC(2026, 10, 21);

function guard() {
  const detector = new AttackDetector(KEY, {}, NOW);
  for (const zone of ['example.com', 'example.net']) detector.zones.add(zone);
  detector.decide(questionOf('www.example.com', 1, KEY), NOW);
  detector.tick(NOW + 1000);
  const examples = new LimitedExamples(detector);
  return { detector, examples, reported: () => zoneAssessments(detector, examples, NOW + 1000) };
}

function sampled(queries: readonly (readonly [name: string, client: string])[]): SampleBatch {
  const samples = new LimitedSamples();
  for (const [name, client] of queries) {
    const wire = nameToWire(name);
    samples.note(queryPacket(wire, 1), HEADER_BYTES + wire.length + 4, client);
  }
  return samples.take() as SampleBatch; // queries were noted
}

it('An assessment lists the newest 20 names and networks of limited queries of its zone, each once', () => {
  const { examples, reported } = guard();
  const names = Array.from({ length: 25 }, (_, n) => [`n${n}.example.com`, `198.51.${n}.9`] as const);
  examples.add([sampled(names)]);
  examples.add([
    sampled([
      ['n7.example.com', '2001:db8:1:2ff::1'],
      ['www.example.net', '192.0.2.1'],
    ]),
  ]);
  const [zone, ...others] = reported();
  expect(others).toEqual([]);
  expect(zone?.zone).toBe('example.com');
  expect(zone?.names).toHaveLength(20);
  expect(zone?.names.slice(0, 3)).toEqual(['n7.example.com', 'n24.example.com', 'n23.example.com']);
  expect(zone?.networks).toHaveLength(20);
  expect(zone?.networks.slice(0, 2)).toEqual(['2001:db8:1:200::/56', '198.51.24.0/24']);
});

it('Examples of a zone are deleted when it is forgotten', () => {
  const { detector, examples, reported } = guard();
  examples.add([sampled([['n1.example.com', '192.0.2.1']])]);
  detector.forget('example.com', NOW + 1000);
  examples.prune();
  detector.decide(questionOf('www.example.com', 1, KEY), NOW + 1000);
  detector.tick(NOW + 2000);
  expect(reported()).toMatchObject([{ zone: 'example.com', names: [], networks: [] }]);
});

it('An assessment contains shares for each combination of sensitivities', () => {
  const [zone] = guard().reported();
  const shares = { low: 0, medium: 0, high: 0 };
  expect(zone).toMatchObject({
    assessment: 'still_learning',
    judged_by: 'names',
    profile_sensitivity: 'medium',
    rate_sensitivity: 'medium',
    day: { queries: 1, limited_share: { low: shares, medium: shares, high: shares, very_high: shares } },
  });
  expect(zone).not.toHaveProperty('proposed');
});
