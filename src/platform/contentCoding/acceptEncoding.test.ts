import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AcceptedCodings, acceptedCoding } from './acceptEncoding.ts';
import { COMPRESSORS } from './coding.ts';

const OURS = [...COMPRESSORS.keys()];
const [FIRST] = OURS;

describe('the coding for an Accept-Encoding header', () => {
  it.each<[string, string | undefined]>([
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate', 'gzip'],
    ['deflate', undefined],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.5,gzip;q=0.4', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000', undefined],
    ['gzip;q=0, gzip', undefined],
    ['*', FIRST],
    ['*;q=0', undefined],
    ['*;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, *', FIRST],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['gzip \t; \tq=1.000', 'gzip'],
    // Elements that cannot be parsed are ignored.
    ['gzip;q=2', undefined],
    ['gzip;q=-1', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzip;q=', undefined],
    ['gzip;level=9', undefined],
    ['gzip br', undefined],
    [',,;q=1,=,gzip', 'gzip'],
    ['__proto__, constructor;q=1, gzip', 'gzip'],
    [`gzip${' '.repeat(2_000)}`, undefined],
  ])('of %j is %s', (header, coding) => {
    expect(acceptedCoding(header)).toBe(coding);
  });

  const name = fc.constantFrom('gzip', 'br', 'zstd', 'deflate', 'identity', '*', 'x', 'GZIP', 'x-gzip');
  const weight = fc.constantFrom(
    '',
    ';q=1',
    ';q=0',
    ';q=0.5',
    '; q=0.25',
    ' ;q=1.0',
    ';q=7',
    ';p=1',
    ';q=0.',
  );
  const element = fc.oneof(
    fc.tuple(name, weight).map((pair) => pair.join('')),
    fc.string({ maxLength: 8 }),
  );

  it('equals the result of a second, simple parser', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (elements) => {
        const header = elements.join(',');
        const best = acceptedCoding(header);
        const weights = OURS.map((coding) => plainWeight(header, coding));
        const most = Math.max(0, plainWeight(header, 'identity', 0), ...weights);
        if (best === undefined) {
          expect(
            Math.max(...weights) === 0 || plainWeight(header, 'identity', 0) > Math.max(...weights),
          ).toBe(true);
          return;
        }
        expect(plainWeight(header, best)).toBe(most);
        expect(OURS.indexOf(best)).toBe(weights.indexOf(most));
      }),
      { numRuns: 500 },
    );
  });

  it('is the same with the cache, also after more headers than the cache holds', () => {
    const codings = new AcceptedCodings();
    for (let i = 0; i < 1_000; i++) expect(codings.of(`gzip, x${i}`)).toBe('gzip');
    for (const header of ['gzip', 'gzip', 'compress', 'compress'])
      expect(codings.of(header)).toBe(acceptedCoding(header));
  });
});

/** Reference parser without regular expressions: the lowest weight of a coding, else that of `*`, else a default. */
function plainWeight(header: string, coding: string, otherwise = plainAny(header)): number {
  const given = plainElements(header).filter((each) => each.coding === coding);
  return given.length === 0 ? otherwise : Math.min(...given.map((each) => each.weight));
}

const plainAny = (header: string): number => plainWeight(header, '*', 0);

function plainElements(header: string): { coding: string; weight: number }[] {
  return header.split(',').flatMap((text) => {
    const [name = '', parameter, ...more] = text.trim().split(';');
    let coding = name.trim().toLowerCase();
    if (coding === '' || more.length > 0 || [...coding].some((c) => !TOKEN.includes(c))) return [];
    if (coding === 'x-gzip') coding = 'gzip';
    if (parameter === undefined) return [{ coding, weight: 1 }];
    const trimmed = parameter.trim();
    const digits = trimmed.slice(2);
    if (!/^[qQ]=/.test(trimmed) || !DIGITS.has(digits)) return [];
    return [{ coding, weight: Number(digits) }];
  });
}

const TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";
/** All valid weights. */
const DIGITS = new Set([
  '0',
  '0.',
  '1',
  '1.',
  '1.0',
  '1.00',
  '1.000',
  ...[1, 2, 3].flatMap((length) =>
    Array.from({ length: 10 ** length }, (_, i) => `0.${String(i).padStart(length, '0')}`),
  ),
]);
