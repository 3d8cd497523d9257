import fc from 'fast-check';
import { Errors } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { nameToText, nameToWire } from '../../dns/protocol/index.ts';
import { InvalidRule } from '../invalidRule.ts';
import { newZonePolicyArbitrary } from '../zonePolicy.arbitrary.ts';
import type { ZonePolicy, ZonePolicySettings } from '../zonePolicy.ts';
import { BadZoneError, canonicalZone, zonePattern } from './zoneName.ts';
import {
  checkNewZonePolicy,
  checkZonePolicyPatch,
  readZonePolicy,
  zonePolicySchema,
} from './zonePolicyFormat.ts';

const defaults: ZonePolicySettings = {
  zone: 'example.com',
  mode: 'inherit',
  judge_by: 'auto',
  rate: null,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: null,
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: false,
  comment: '',
};
const stored: ZonePolicy = {
  id: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  ...defaults,
  created_on: '2026-11-20T22:10:38.762503+00:00',
  modified_on: '2026-11-20T22:10:38.762503+00:00',
};

function faultsOf(check: () => unknown): { pointer?: string; message: string }[] {
  try {
    check();
  } catch (error) {
    if (error instanceof InvalidRule) return [...error.faults];
    throw error;
  }
  return [];
}
const pointersOf = (check: () => unknown) => faultsOf(check).map(({ pointer }) => pointer ?? '');

describe('the name of a zone', () => {
  it.each([
    ['example.com', 'example.com'],
    ['Example.COM.', 'example.com'],
    ['.', '.'],
    ['com', 'com'],
    ['0/25.2.0.192.in-addr.arpa', '0/25.2.0.192.in-addr.arpa'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['xn--Bcher-KVA.example', 'xn--bcher-kva.example'],
    ['a\\.b.example', 'a\\046b.example'],
    ['\\065\\098.example', 'ab.example'],
    ['a\\032b\\255.example', 'a\\032b\\255.example'],
    ['\\\\.example', '\\092.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
    [`${`${'\\000'.repeat(63)}.`.repeat(3)}${'\\000'.repeat(61)}`, /^(?:\\000){63}\./],
  ])('%j is stored as %s', (zone, canonical) => {
    expect(canonicalZone(zone)).toMatch(canonical instanceof RegExp ? canonical : /^/);
    if (typeof canonical === 'string') expect(canonicalZone(zone)).toBe(canonical);
    expect(zone).toMatch(new RegExp(zonePattern, 'u'));
  });

  it.each([
    ['', 'a label is empty'],
    ['..', 'a label is empty'],
    ['a..b', 'a label is empty'],
    ['.a', 'a label is empty'],
    [`${'a'.repeat(64)}.example`, 'a label is longer than 63 octets'],
    [`${'a'.repeat(60)}.`.repeat(5), 'it is longer than 255 octets'],
    ['a'.repeat(5000), 'it is longer than 255 octets'],
    ['a b.example', 'write the character " " as \\032'],
    ['http://example.com', 'write the character ":" as \\058'],
    ['bücher.example', 'write international names as A-labels: xn--…'],
    ['a\\', 'invalid escape after \\'],
    ['a\\25.example', 'invalid escape after \\'],
    ['a\\256.example', '\\256 is above \\255'],
    [7, 'got 7'],
    [null, 'got null'],
  ])('%j is rejected with the reason', (zone, reason) => {
    expect(() => canonicalZone(zone)).toThrow(BadZoneError);
    expect(() => canonicalZone(zone)).toThrow(reason);
    expect(() => canonicalZone(zone)).toThrow(/^zone must be a DNS name such as example\.com/);
  });

  it('is stored in the form in which the guard shows names', () => {
    const label = fc.uint8Array({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(label, { maxLength: 8 }), (labels) => {
        const text = nameToText(Uint8Array.from([...labels.flatMap((one) => [one.length, ...one]), 0]));
        expect(canonicalZone(text)).toBe(text);
        expect(canonicalZone(text.toUpperCase())).toBe(text);
        expect(nameToText(nameToWire(text))).toBe(text);
        expect(new RegExp(zonePattern, 'u').test(text)).toBe(!text.split('.').includes('*'));
      }),
    );
  });
});

describe('a new zone policy', () => {
  it('without a zone is rejected with the allowed zones', () => {
    expect(faultsOf(() => checkNewZonePolicy({ comment: 'x' }))).toEqual([
      {
        pointer: '/zone',
        message:
          'zone is missing; it must be a DNS name such as example.com, 0/25.2.0.192.in-addr.arpa or . (the root); other characters as \\DDD',
      },
    ]);
  });

  it('needs only a zone; all other fields have defaults', () => {
    expect(checkNewZonePolicy({ zone: 'Example.com.' })).toEqual(defaults);
    expect(Object.keys(checkNewZonePolicy({ comment: 'x', zone: '.' }))).toEqual(Object.keys(defaults));
  });

  it('is accepted with any valid values, and stored as the schema describes', () => {
    fc.assert(
      fc.property(newZonePolicyArbitrary, (policy) => {
        const checked = checkNewZonePolicy({ ...policy });
        expect(checked).toEqual(policy);
        const whole = { ...stored, ...checked };
        expect([...Errors(zonePolicySchema, whole)]).toEqual([]);
        expect(readZonePolicy(whole)).toEqual(whole);
      }),
    );
  });

  it('is accepted if its zone matches the pattern in the OpenAPI document, and rejected otherwise', () => {
    const piece = fc.constantFrom(
      '*',
      '\\*',
      '\\042',
      '.',
      '\\.',
      '\\046',
      '\\0',
      '\\',
      'a',
      'B',
      '-',
      '\\255',
      '\\256',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const zone = pieces.join('');
        const isAllowed = new RegExp(zonePattern, 'u').test(zone);
        expect(pointersOf(() => checkNewZonePolicy({ zone }))).toEqual(isAllowed ? [] : ['/zone']);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    [{}, ['/zone']],
    [{ zone: 'a..b', mode: 'on', judge_by: 'speed' }, ['/zone', '/mode', '/judge_by']],
    [{ zone: '*.example.com' }, ['/zone']],
    [{ zone: '\\042.a.' }, ['/zone']],
    [{ zone: 'a', rate: 0, burst: 0, unknown_per_second: 0 }, ['/rate', '/burst', '/unknown_per_second']],
    [{ zone: 'a', rate: 400_001, burst: 2_000_001 }, ['/rate', '/burst']],
    [{ zone: 'a', unknown_per_second: 400_001 }, ['/unknown_per_second']],
    [{ zone: 'a', rate: 1.5, burst: '7' }, ['/rate', '/burst']],
    [{ zone: 'a', profile_sensitivity: 'max', rate_sensitivity: 'very_high' }, 2],
    [{ zone: 'a', mode: null, judge_by: null, comment: null, only_when_upstream_unhealthy: null }, 4],
    [{ zone: 'a', comment: 'x'.repeat(501) }, ['/comment']],
    [{ zone: 'a', comment: 'two\nlines' }, ['/comment']],
    [{ zone: 'a', why: 1, id: 'x' }, ['/why', '/id']],
    [[], ['']],
  ])('%j is rejected with a pointer to each fault', (body, pointers) => {
    const found = pointersOf(() => checkNewZonePolicy(body));
    if (typeof pointers === 'number') expect(found).toHaveLength(pointers);
    else expect(found).toEqual(pointers);
  });

  it('is rejected with the allowed values', () => {
    const body = { zone: 'a', rate: 0, profile_sensitivity: 'max', comment: 'x'.repeat(501) };
    expect(faultsOf(() => checkNewZonePolicy(body)).map(({ message }) => message)).toEqual([
      'rate must be an integer from 1 to 400000 or null; got 0',
      'profile_sensitivity must be one of "low", "medium", "high", "very_high", null; got "max"',
      expect.stringMatching(
        /^comment must be a string of at most 500 characters, without control characters/,
      ),
    ]);
  });

  it('with any JSON is accepted or rejected with faults', () => {
    const value = fc.oneof(fc.jsonValue(), fc.string());
    const body = fc.oneof(value, fc.record({ zone: value, rate: value, comment: value }));
    fc.assert(
      fc.property(body, (one) => {
        for (const check of [() => checkNewZonePolicy(one), () => checkZonePolicyPatch(stored, one)])
          expect(faultsOf(check).length).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('a change of a zone policy', () => {
  it('contains only the settings that differ; null clears a setting', () => {
    const limited = { ...stored, rate: 100 };
    expect(checkZonePolicyPatch(limited, { rate: null, mode: 'inherit', burst: 7 })).toEqual({
      rate: null,
      burst: 7,
    });
    expect(checkZonePolicyPatch(limited, {})).toEqual({});
    expect(checkZonePolicyPatch(limited, { ...limited, zone: 'EXAMPLE.com.' })).toEqual({});
  });

  it('cannot change the zone, the id or the times', () => {
    const body = { zone: 'other.com', id: 'x', created_on: 'x', modified_on: null };
    expect(pointersOf(() => checkZonePolicyPatch(stored, body))).toEqual([
      '/zone',
      '/id',
      '/created_on',
      '/modified_on',
    ]);
    expect(pointersOf(() => checkZonePolicyPatch(stored, { zone: 'a..b', rate: 0, why: 1 }))).toEqual([
      '/rate',
      '/zone',
      '/why',
    ]);
  });
});

it('readZonePolicy returns undefined for a value that is no zone policy', () => {
  const { comment: _, ...incomplete } = stored;
  for (const value of [undefined, null, 7, {}, incomplete, { ...stored, rate: '7' }])
    expect(readZonePolicy(value)).toBeUndefined();
  expect(readZonePolicy({ ...stored, mode: 'of a later release' })).toBeDefined();
});
