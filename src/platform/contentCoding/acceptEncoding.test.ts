import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AcceptedCodings, acceptedCodings } from './acceptEncoding.ts';
import { COMPRESSORS } from './coding.ts';

const OURS = [...COMPRESSORS.keys()];
const [FIRST] = OURS;

describe('what an Accept-Encoding header accepts', () => {
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
    // What cannot be read accepts nothing, and takes nothing else with it.
    ['gzip;q=2', undefined],
    ['gzip;q=-1', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzip;q=', undefined],
    ['gzip;level=9', undefined],
    ['gzip br', undefined],
    [',,;q=1,=,gzip', 'gzip'],
    ['__proto__, constructor;q=1, gzip', 'gzip'],
    [`gzip${' '.repeat(2_000)}`, undefined],
  ])('%j: %s', (header, best) => {
    expect(acceptedCodings(header).best).toBe(best);
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

  it('is what a plain reading of the same header says', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (elements) => {
        const header = elements.join(',');
        const { best, gzip } = acceptedCodings(header);
        const weights = OURS.map((coding) => plainWeight(header, coding));
        const most = Math.max(0, plainWeight(header, 'identity', 0), ...weights);
        expect(gzip || best !== 'gzip').toBe(true);
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

  it('is remembered, of no more than a few headers', () => {
    const known = new AcceptedCodings();
    const first = known.of('gzip');
    expect(known.of('gzip')).toBe(first);
    for (let i = 0; i < 1_000; i++) known.of(`gzip, x${i}`);
    expect(known.of('gzip')).not.toBe(first);
    expect(known.of('gzip')).toEqual(first);
  });
});

/** Without regular expressions: the lowest weight that is given to a coding, else to any, else a default. */
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
/** All weights that there are. */
const DIGITS = new Set([
  ...['0', '0.', '1', '1.', '1.0', '1.00', '1.000'],
  ...[1, 2, 3].flatMap((length) =>
    Array.from({ length: 10 ** length }, (_, i) => `0.${String(i).padStart(length, '0')}`),
  ),
]);
