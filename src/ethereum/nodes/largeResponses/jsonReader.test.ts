import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonReader } from './jsonReader.ts';
import { OversizedBlockError } from './oversizedBlockError.ts';
import { ResponseMemory } from './responseMemory.ts';

const MIB = 1024 * 1024;

const keptUpTo = (maxBytes: number): ResponseMemory => new ResponseMemory(maxBytes, 'node:1, block 7');

function read(text: string | Buffer, pieceBytes = 7, kept = keptUpTo(MIB)): unknown {
  const bytes = Buffer.from(text);
  const reader = new JsonReader(kept);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.write(bytes.subarray(at, at + pieceBytes));
  return reader.end();
}

describe('a JSON text that is received in pieces', () => {
  it('has the value that JSON.parse returns, for any split', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(0, 2),
        fc.integer({ min: 1, max: 40 }),
        (value, indent, bytes) => {
          const text = JSON.stringify(value, undefined, indent);
          expect(read(text, bytes)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it('is rejected exactly if JSON.parse rejects it', () => {
    const parts = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e9"',
      '"',
      '\\',
      '1',
      '-0.5e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\u0001',
      'é',
    ];
    const outcome = (parse: () => unknown): string => {
      try {
        return JSON.stringify(parse());
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        (list, bytes) => {
          const text = list.join('');
          expect(outcome(() => read(text, bytes))).toBe(outcome(() => JSON.parse(text)));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('is read as JSON.parse reads it if members are duplicated or named __proto__', () => {
    const text = '{"a":1,"a":[2],"__proto__":{"type":"CALL"},"b":{"__proto__":null,"b":3}}';
    const value = read(text) as object;
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('shares equal strings, so that a repeated long string is in memory one time', () => {
    const long = 'ab'.repeat(70_000);
    const kept = keptUpTo(200_000);
    const value = read(JSON.stringify(Array.from({ length: 100 }, () => long)), 9_999, kept) as string[];
    expect(value).toHaveLength(100);
    expect(new Set(value)).toEqual(new Set([long]));
    expect(kept.bytes).toBeLessThan(long.length + 2_000);
  });

  it.each([
    [
      'long strings that differ',
      JSON.stringify(Array.from({ length: 100 }, (_, i) => `${i}`.repeat(10_000))),
    ],
    ['short strings that differ', JSON.stringify(Array.from({ length: 40_000 }, (_, i) => `${i}`))],
    ['strings with escapes', `["${'\\u0041'.repeat(200_000)}"]`],
    ['empty objects', `[${'{},'.repeat(40_000)}{}]`],
    ['numbers', `[${'1,'.repeat(200_000)}1]`],
    ['members', `{${Array.from({ length: 40_000 }, (_, i) => `"k${i}":0`).join()}}`],
  ])('is rejected with the name of the limit that it exceeds: %s', (_, text) => {
    expect(() => read(text, 64 * 1024)).toThrow(OversizedBlockError);
    expect(() => read(text, 64 * 1024)).toThrow(
      'node:1, block 7: the traces need more than 1048576 bytes (index.maxBlockBytes)',
    );
  });

  it.each([
    ['a nesting that no call tree has', '['.repeat(100_000), /nested more than 2100 deep/],
    ['objects nested without end', '{"calls":['.repeat(50_000), /nested more than 2100 deep/],
    ['a string that never ends', `["${'a'.repeat(35 * MIB)}`, /a string of more than 35651584 bytes/],
    ['a number that never ends', '1'.repeat(1_000), /a number of more than 128 digits/],
    ['a text that breaks off', '[{"calls":[{"type":"CALL"', /ends early/],
    ['a string that breaks off', '["0x60', /ends early/],
    ['nothing', '', /ends early/],
    ['two values', '[1] [2]', /expected nothing/],
    ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00]), /JSON/],
  ])('is rejected: %s', (_, text, message) => {
    expect(() => read(text, 64 * 1024, keptUpTo(64 * MIB))).toThrow(message);
    expect(() => read(text, 64 * 1024, keptUpTo(64 * MIB))).toThrow(SyntaxError);
  });
});
