import { describe, expect, it } from 'vitest';
import { batchResponse, pooledResponse } from './response.ts';

const START = '{"jsonrpc":"2.0","id":1,"result":';
const text = (parts: readonly (string | Uint8Array)[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part))).toString();

/** Returns the response for a result in the middle of a buffer with this many free bytes. */
function responseWith(freeBytesBefore: number, freeBytesAfter: number) {
  const buffer = Buffer.from(
    `${' '.repeat(freeBytesBefore)}"0x1"`.padEnd(freeBytesBefore + 5 + freeBytesAfter),
  );
  const bytes = buffer.subarray(freeBytesBefore, freeBytesBefore + 5);
  return pooledResponse(1, { bytes, freeBytesBefore, freeBytesAfter, release: () => {} });
}

describe('the response for a pooled result', () => {
  it.each([
    [START.length, 1, 1],
    [START.length + 9, 9, 1],
    [START.length - 1, 1, 3],
    [START.length, 0, 3],
    [0, 0, 3],
  ])('with %i free bytes before and %i after it has %i parts', (before, after, parts) => {
    const response = responseWith(before, after);
    expect(response).toHaveLength(parts);
    expect(text(response)).toBe(`${START}"0x1"}`);
  });
});

it('the response to a batch has commas between its responses', () => {
  expect(text(batchResponse([['{1}'], ['{2', '}'], ['{3}']]))).toBe('[{1},{2},{3}]');
});
