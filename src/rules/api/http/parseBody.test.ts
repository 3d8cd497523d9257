import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InvalidRule } from '../../index.ts';
import { ApiError } from './errors.ts';
import { parseBody } from './parseBody.ts';

it('parseBody parses JSON with or without a byte order mark', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      expect(parseBody(Buffer.from(text))).toEqual(JSON.parse(text));
      expect(parseBody(Buffer.from(`\ufeff${text}`))).toEqual(JSON.parse(text));
    }),
  );
});

it('parseBody rejects a duplicate member of the outermost object, and only there', () => {
  const name = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(name, fc.dictionary(fc.string(), fc.jsonValue()), (repeated, others) => {
      const rest = Object.entries(others)
        .filter(([member]) => member !== repeated)
        .map(([member, value]) => `${JSON.stringify(member)}:${JSON.stringify(value)}`);
      const twice = [`${JSON.stringify(repeated)}:1`, ...rest, `${JSON.stringify(repeated)} :2`].join(',');
      expect(() => parseBody(Buffer.from(`{${twice}}`))).toThrow(InvalidRule);
      expect(() => parseBody(Buffer.from(`{"outer":{${twice}}}`))).not.toThrow();
      expect(() => parseBody(Buffer.from(`[{${twice}}]`))).not.toThrow();
    }),
  );
});

it('parseBody parses arbitrary bytes or throws ApiError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      try {
        parseBody(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
  );
});
