import { expect, it } from 'vitest';
import { AttackDetector } from '../detector/index.ts';
import { nameToWire, questionOfWire, typeBit } from '../protocol/index.ts';
import { namePattern } from './namePattern.ts';

const KEY = { high: 1, low: 2 };
const detector = new AttackDetector(KEY);
const zone = detector.zones.add('example.test');
for (const name of ['www.example.test', 'api.example.test']) {
  detector.profile.seed(questionOfWire(nameToWire(name), 1, KEY), typeBit(1));
}
if (zone === undefined) throw new Error('the zone was not added');

const patternOf = (wire: Uint8Array, within: { readonly name: string } = zone): string =>
  namePattern(wire, questionOfWire(wire, 1, KEY), { detector, zone: within });
const ofText = (name: string): string => patternOf(nameToWire(name));

it('a name pattern shows the known suffix, and only class and length of other labels', () => {
  expect(ofText('x8fk2.example.test')).toBe('[0-9a-z]{5-8}.example.test');
  expect(ofText('deadbeef01.example.test')).toBe('[0-9a-f]{9-16}.example.test');
  expect(ofText('12345.WWW.example.test')).toBe('[0-9]{5-8}.www.example.test');
  expect(ofText('a.b-c.d.e.f.api.example.test')).toBe(
    '**.[0-9a-f]{1-4}.[0-9a-f]{1-4}.[0-9a-f]{1-4}.api.example.test',
  );
  expect(ofText('www.example.test')).toBe('www.example.test');
  expect(ofText('example.test')).toBe('example.test');
  expect(patternOf(nameToWire('any.where'), { name: '' })).toBe('[a-z]{1-4}.[a-z]{5-8}');
  expect(patternOf(Uint8Array.of(0), { name: '' })).toBe('.');
});

it('random names share few patterns, whatever an attacker chooses', () => {
  const patterns = new Set<string>();
  for (let i = 0; i < 2000; i++)
    patterns.add(ofText(`x${(i * 7919 + 60_466_176).toString(36)}q.example.test`));
  expect(patterns.size).toBeLessThanOrEqual(3);
  for (let i = 0; i < 2000; i++) {
    const label = Array.from({ length: 1 + (i % 63) }, (_, at) => (i * 31 + at * 17 + (i >> 3)) & 0xff);
    patterns.add(patternOf(Uint8Array.of(label.length, ...label, ...nameToWire('example.test'))));
  }
  expect(patterns.size).toBeLessThanOrEqual(30);
});

it('a name pattern contains no control characters, markup or bidirectional overrides', () => {
  const labels = ['\x1b[2J', '\r\nlevel=50', '<script>', '\0\x7f', '\u202e'.repeat(3), 'x'.repeat(63)];
  const wire = labels.flatMap((label) => {
    const bytes = Buffer.from(label);
    return [bytes.length, ...bytes];
  });
  for (const within of [zone, { name: '' }])
    expect(patternOf(Uint8Array.of(...wire, ...nameToWire('example.test')), within)).toMatch(
      /^[\][ a-z0-9.{}*_-]+$/,
    );
});

it('name patterns support names of maximum length and of many labels', () => {
  const longest = nameToWire(`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`);
  expect(patternOf(longest, { name: '' })).toBe(
    '**.[a-z]{33-63}.[a-z]{33-63}.[a-z]{33-63}'.replaceAll('[a-z]', '[0-9a-f]'),
  );
  expect(ofText(`${'1.'.repeat(120)}example.test`.slice(-253).replace(/^\./, ''))).toMatch(/^\*\*\./);
});
