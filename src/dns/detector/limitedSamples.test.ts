import { describe, expect, it } from 'vitest';
import { HEADER_BYTES, nameToText, nameToWire, queryPacket } from '../protocol/index.ts';
import { LimitedSamples, samplesIn } from './limitedSamples.ts';

const SLOTS = 256;
const packetOf = (name: string, type = 1): Uint8Array => queryPacket(nameToWire(name), type);
const note = (samples: LimitedSamples, packet: Uint8Array, client = '192.0.2.1'): void => {
  samples.note(packet, packet.length, client);
};
const taken = (samples: LimitedSamples) => {
  const batch = samples.take();
  return batch === undefined ? [] : [...samplesIn(batch)];
};

describe('sample of limited queries', () => {
  it('contains every query unchanged at low rates', () => {
    const samples = new LimitedSamples();
    expect(samples.take()).toBeUndefined();
    note(samples, packetOf('a.example.test', 28), '198.51.100.7');
    note(samples, packetOf('caa.example.test', 257));
    note(samples, packetOf('B.example.test'), '2001:db8::1');
    expect(taken(samples).map(({ name, ...rest }) => ({ name: nameToText(name), ...rest }))).toEqual([
      { name: 'a.example.test', type: 28, client: '198.51.100.7', weight: 1 },
      { name: 'caa.example.test', type: 257, client: '192.0.2.1', weight: 1 },
      { name: 'b.example.test', type: 1, client: '2001:db8::1', weight: 1 },
    ]);
    expect(samples.take()).toBeUndefined();
  });

  it('is bounded, weighted and uniform over all noted queries', () => {
    const samples = new LimitedSamples();
    const noted = 2000;
    const packets = Array.from({ length: noted }, (_, i) => packetOf(`${i}.example.test`));
    let early = 0;
    for (let round = 0; round < 20; round++) {
      for (const packet of packets) samples.note(packet, packet.length, '192.0.2.1');
      const kept = taken(samples);
      expect(kept).toHaveLength(SLOTS);
      expect(kept.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(noted);
      early += kept.filter(({ name }) => Number.parseInt(nameToText(name), 10) < noted / 2).length;
    }
    // Half of 5,120 samples; the standard deviation is 36.
    expect(Math.abs(early - 2560)).toBeLessThan(250);
  });

  it('stores names of maximum length, and truncates long addresses', () => {
    const samples = new LimitedSamples();
    const label = 'x'.repeat(63);
    const name = [label, label, label, 'y'.repeat(61)].join('.');
    note(samples, packetOf(name), `fe80::1%${'e'.repeat(200)}`);
    const [one] = taken(samples);
    expect(one && nameToText(one.name)).toBe(name);
    expect(one?.client).toHaveLength(45);
    const short = packetOf('a.test');
    samples.note(short.subarray(0, HEADER_BYTES), HEADER_BYTES + 4, '');
    expect(taken(samples)).toMatchObject([{ name: new Uint8Array(0), client: '' }]);
  });
});
