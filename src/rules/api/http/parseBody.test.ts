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

it('parseBody parses bytes that are JSON in UTF-8, and throws ApiError for all others', () => {
  const json = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)));
  const damaged = fc.tuple(json, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const changed = Buffer.from(bytes);
    changed[at % changed.length] = byte;
    return changed;
  });
  const anyBytes = fc.uint8Array().map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(anyBytes, json, damaged), (bytes) => {
      const text = bytes.toString();
      const isUtf8 = Buffer.from(text).equals(bytes);
      const known = isUtf8 ? parsed(text.replace(/^\ufeff/, '')) : undefined;
      if (known === undefined) expect(() => parseBody(bytes)).toThrow(ApiError);
      // A damaged object may have two members of one name, which is another error.
      else if (!throws(() => parseBody(bytes), InvalidRule)) expect(parseBody(bytes)).toEqual(known.value);
    }),
  );
});

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function throws(run: () => unknown, expected: typeof InvalidRule): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof expected;
  }
}
