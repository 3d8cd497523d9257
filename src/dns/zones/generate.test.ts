// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of $GENERATE
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameToText } from '../protocol/index.ts';
import { parseRange, parseTemplate, TemplateError } from './generate.ts';
import {
  MasterFileError,
  type MasterRecord,
  newZoneState,
  parseMasterFile,
  readMasterFile,
  startOf,
} from './masterFile.ts';

const ZONE = 'example.test';
const shown = ({ owner, type, data, ttlSeconds }: MasterRecord): string =>
  `${nameToText(owner)} ${ttlSeconds} ${type} ${data.join(' ')}`;
const recordsOf = (text: string): string[] => [...readMasterFile(`${text}\n`, ZONE)].map(shown);

/** Like `printf("%0*d")` of C, with the other bases of $GENERATE. Written apart from the code that it checks. */
function printed(value: number, width: number, base: string): string {
  const pad = (digits: string, sign: string): string => {
    let padded = digits;
    while (padded.length + sign.length < width) padded = `0${padded}`;
    return sign + padded;
  };
  if (base === 'd') return value < 0 ? pad(`${-value}`, '-') : pad(`${value}`, '');
  const unsigned = value < 0 ? value + 2 ** 32 : value;
  if (base === 'o') return pad(unsigned.toString(8), '');
  const hex = pad(unsigned.toString(16), '');
  return base === 'X' ? hex.toUpperCase() : hex;
}

describe('$GENERATE', () => {
  it.each([
    ['1-3 host-$ A 192.0.2.$', ['host-1', 'host-2', 'host-3'], '192.0.2.1'],
    ['0-6/3 h$ 300 IN A 192.0.2.$', ['h0', 'h3', 'h6'], '192.0.2.0'],
    ['7-7 h${-7,3,d}x A 192.0.2.1', ['h000x'], '192.0.2.1'],
    ['0-1 h${0,2,o} CNAME www', ['h00', 'h01'], 'www'],
    ['171-171 ${0,4,x}.${0,4,X} A 192.0.2.1', ['00ab.00ab'], '192.0.2.1'],
    ['18-18 ${0,7,n}.r PTR h$', ['2.1.0.0.r'], 'h18'],
    ['1-1 a$$b A 192.0.2.1', ['a\\036b'], '192.0.2.1'],
    ['1-1 a\\$b A 192.0.2.1', ['a\\036b'], '192.0.2.1'],
    ['5-5 @ MX "${5} mx$"', [''], '10 mx5'],
    ['5-5 *.w$ MX 10 mx$', ['*.w5'], '10 mx5'],
  ])('%s', (line, owners, data) => {
    const records = [...readMasterFile(`$GENERATE ${line}\n`, ZONE)];
    expect(records.map(({ owner }) => nameToText(owner))).toEqual(
      owners.map((owner) => (owner === '' ? ZONE : `${owner}.${ZONE}`)),
    );
    expect(records[0]?.data.join(' ')).toBe(data);
  });

  it('produces the records of a plain loop', () => {
    const number = fc.record({
      offset: fc.integer({ min: -50, max: 1000 }),
      width: fc.integer({ min: 0, max: 20 }),
      base: fc.constantFrom('d', 'o', 'x', 'X'),
    });
    const range = fc.record({
      start: fc.nat(3000),
      length: fc.nat(200),
      step: fc.integer({ min: 1, max: 70 }),
    });
    fc.assert(
      fc.property(
        range,
        fc.array(number, { minLength: 1, maxLength: 3 }),
        ({ start, length, step }, numbers) => {
          const stop = start + length;
          const template = numbers
            .map(({ offset, width, base }) => `$\{${offset},${width},${base}}`)
            .join('-x');
          const expected: string[] = [];
          for (let value = start; value <= stop; value += step) {
            const name = numbers
              .map(({ offset, width, base }) => printed(value + offset, width, base))
              .join('-x');
            expected.push(`${name.toLowerCase()}.${ZONE} 3600 TXT ${value} ${name}`);
          }
          const line = `$GENERATE ${start}-${stop}/${step} ${template} TXT "$ ${template}"`;
          const produced = recordsOf(line);
          expect(produced).toEqual(expected);
        },
      ),
    );
  });

  it('produces nibbles that are the reversed hexadecimal digits', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), fc.integer({ min: 0, max: 8 }), (value, digits) => {
        const width = Math.max(0, 2 * digits - 1);
        const hex = value.toString(16).padStart(digits, '0');
        expect(parseTemplate(`$\{0,${width},n}`)(value)).toBe([...hex].reverse().join('.'));
        expect(parseTemplate(`$\{0,${width},N}`)(value)).toBe([...hex.toUpperCase()].reverse().join('.'));
      }),
    );
  });

  it('keeps the current owner, and uses origin and TTL of its line', () => {
    expect(
      recordsOf('www A 192.0.2.1\n$ORIGIN sub\n$TTL 60\n$GENERATE 1-1 h$ A 192.0.2.2\n  AAAA 2001:db8::1'),
    ).toEqual([
      `www.${ZONE} 3600 A 192.0.2.1`,
      `h1.sub.${ZONE} 60 A 192.0.2.2`,
      `www.${ZONE} 60 AAAA 2001:db8::1`,
    ]);
  });

  it.each([
    ['10-1 h$ A 192.0.2.1', /"10-1" is not a range of \$GENERATE: use START-STOP or START-STOP\/STEP/],
    ['1-10/0 h$ A 192.0.2.1', /is not a range/],
    ['1-10/-1 h$ A 192.0.2.1', /is not a range/],
    ['-3-10 h$ A 192.0.2.1', /is not a range/],
    ['0-2147483648 h$ A 192.0.2.1', /is not a range/],
    ['1e3-2e3 h$ A 192.0.2.1', /is not a range/],
    ['', /is not a range/],
    ['1-2', /the record has no type/],
    ['1-2 h$', /the record has no type/],
    ['1-2 h$ A', /needs a range, an owner, a type and data/],
    ['1-2 h$ TYPE41 x', /cannot produce TYPE41 records/],
    ['1-2 h$ ANY x', /cannot produce ANY records/],
    ['1-2 h$ CH A 192.0.2.1', /"CH" is not a TTL, class or record type/],
    ['1-2 h${} A 192.0.2.1', /"\$\{\}" is not valid in \$GENERATE: use \$\{OFFSET\}/],
    ['1-2 h${0,3,z} A 192.0.2.1', /is not valid in \$GENERATE/],
    ['1-2 h${0,-3} A 192.0.2.1', /is not valid in \$GENERATE/],
    ['1-2 h${0,128} A 192.0.2.1', /a WIDTH from 0 to 127/],
    ['1-2 h${0 A 192.0.2.1', /is not valid in \$GENERATE/],
    ['1-2 h${2147483647} A 192.0.2.1', /reaches the number 2147483648/],
    ['1-2 h${-2,1,n} A 192.0.2.1', /the bases n and N allow no negative number/],
    ['1-2 h${0,64} A 192.0.2.1', /a label is longer than 63 octets/],
    [`1-2 h$ TXT ${'x'.repeat(65_536)}`, /at most 65535 characters/],
    ['0-1000000 h$ A 192.0.2.1', /produces 1000001 names: a zone may have at most 1000000 generated names/],
    ['0-2147483647 h$ A 192.0.2.1', /produces 2147483648 names/],
  ])('rejects %s, and names the line', (line, message) => {
    const text = `@ A 192.0.2.1\n$GENERATE ${line}\n`;
    expect(() => [...readMasterFile(text, ZONE)]).toThrow(MasterFileError);
    expect(() => [...readMasterFile(text, ZONE)]).toThrow(/^zone file, line 2: /);
    expect(() => [...readMasterFile(text, ZONE)]).toThrow(message);
  });

  it('counts the names of all lines against the maximum', () => {
    const text =
      '$GENERATE 1-60 a$ A 192.0.2.1\n$GENERATE 1-40 b$ A 192.0.2.1\n$GENERATE 1-1 c$ A 192.0.2.1\n';
    let count = 0;
    const read = (): void => {
      for (const _ of parseMasterFile(text, startOf(ZONE), newZoneState(100))) count++;
    };
    expect(read).toThrow(
      /line 3: \$GENERATE 1-1 produces 1 names: .* at most 100 generated names .*, and 0 are left/,
    );
    expect(count).toBe(100);
  });

  it('produces a record only when it is read, so that a large range takes no time at once', () => {
    const records = readMasterFile('$GENERATE 0-999999 h$ A 192.0.2.1\n', ZONE);
    expect(shown(records.next().value as MasterRecord)).toBe(`h0.${ZONE} 3600 A 192.0.2.1`);
    records.return(undefined);
  });
});

it('a range and a template are parsed or rejected with a TemplateError, whatever their text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('$', '{', '}', ',', '-', '/', '\\', '0', '9', 'd', 'n', 'x') }),
  );
  fc.assert(
    fc.property(text, fc.nat(2 ** 31 - 1), (written, value) => {
      for (const use of [() => parseRange(written), () => parseTemplate(written)(value)])
        try {
          use();
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
    }),
  );
});
