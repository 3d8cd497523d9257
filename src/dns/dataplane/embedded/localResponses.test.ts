import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HEADER_BYTES, Question, ReadResult, readQuery } from '../../protocol/index.ts';
import { framedResponse, LocalResponse, respondInPlace, responseTo } from './localResponses.ts';

const KEY = { high: 1, low: 2 };
const UNANSWERED: ReadonlySet<ReadResult> = new Set([ReadResult.tooShort, ReadResult.response]);

/** Bytes of a query, some of them changed, so that every result of the parser occurs. */
const packet = fc
  .tuple(
    fc.array(fc.constantFrom(0, 1, 4, 8, 10, 11, 12, 15, 16, 41, 63, 0x80, 0xc0, 0xff), { maxLength: 80 }),
    fc.array(fc.tuple(fc.nat(11), fc.nat(3)), { maxLength: 3 }),
  )
  .map(([body, changes]) => {
    const bytes = Uint8Array.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, ...body]);
    for (const [at, value] of changes) bytes[at] = value;
    return bytes;
  });

it("the guard's own answer over UDP is never longer than the query, and does not change the bytes after it", () => {
  const question = new Question();
  fc.assert(
    fc.property(packet, fc.constantFrom(...Object.values(LocalResponse)), (query, response) => {
      const buffer = new Uint8Array(query.length + 40).fill(0x55);
      buffer.set(query);
      const received = buffer.subarray(0, query.length);
      const result = readQuery(received, KEY, question);
      if (UNANSWERED.has(result)) return;
      const isParsed = result === ReadResult.ok || result === ReadResult.cookie;
      const length = respondInPlace(received, question, isParsed ? response : responseTo(result));
      expect(length).toBeGreaterThanOrEqual(HEADER_BYTES);
      expect(length).toBeLessThanOrEqual(query.length);
      expect([...buffer.subarray(query.length)]).toEqual(Array(40).fill(0x55));
      expect((received[2] ?? 0) & 0x80).toBe(0x80);
    }),
    { numRuns: 5000 },
  );
});

it("the guard's own answer over TCP is at most 17 bytes longer than header and question, and keeps the query", () => {
  const question = new Question();
  fc.assert(
    fc.property(packet, (query) => {
      const result = readQuery(query, KEY, question);
      if (UNANSWERED.has(result)) return;
      const before = [...query];
      const framed = framedResponse(query, question, responseTo(result));
      expect(framed.readUInt16BE(0)).toBe(framed.length - 2);
      const end = result === ReadResult.transfer ? question.end : HEADER_BYTES;
      expect(framed.length - 2).toBeLessThanOrEqual(end + 17);
      expect([...query]).toEqual(before);
    }),
  );
});
