import { describe, expect, it } from 'vitest';
import { ResultSpan } from './resultSpan.ts';

/** Returns the text up to the end of the first value, fed in pieces of this many bytes. */
function firstValue(text: string, pieceBytes: number): string | undefined {
  const span = new ResultSpan();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const end = span.feed(bytes.subarray(at, at + pieceBytes));
    if (end !== undefined) return bytes.toString('utf8', 0, at + end);
  }
  return undefined;
}

describe('the span of a result', () => {
  it.each([1, 3, 1_000])('ends at the bracket or comma after it, in pieces of %i bytes', (pieceBytes) => {
    for (const value of ['1', '"a,}"', '"a\\",}"', '"\\\\"', '[1,2]', '{"a":[{}],"b":"]"}', 'null'])
      for (const end of ['}', ',"id":1}']) expect(firstValue(value + end, pieceBytes)).toBe(value);
    expect(firstValue('{"a":1', pieceBytes)).toBeUndefined();
  });

  it.each([
    ['{"result":1}', 10],
    [' { "id" : 1 , "result" : 1}', 25],
    ['{"id":{"result":2},"result":1}', 28],
    ['{"id":"\\"","result":1}', 20],
    ['{"result":', 10],
    ['{"id":1}', undefined],
    ['{"id":1,"resu', undefined],
    ['[1]', undefined],
    ['', undefined],
  ])('in %s starts at %o', (text, start) => {
    expect(ResultSpan.find(Buffer.from(text))).toBe(start);
  });
});
