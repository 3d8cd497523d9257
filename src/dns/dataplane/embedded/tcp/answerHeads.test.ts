import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AnswerHeads } from './answerHeads.ts';

it('the start of every message is passed on, for any chunk boundaries', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 1500 }), { maxLength: 5 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), (sent, cuts) => {
      const stream = Buffer.concat(
        sent.flatMap((message) => [Uint8Array.of(message.length >> 8, message.length & 0xff), message]),
      );
      const heads: Buffer[] = [];
      const reader = new AnswerHeads((head) => heads.push(Buffer.from(head)));
      for (let at = 0, cut = 0; at < stream.length; cut++) {
        const end = at + (cuts[cut % cuts.length] ?? 1);
        reader.push(stream.subarray(at, end));
        at = end;
      }
      expect(heads).toEqual(sent.map((message) => Buffer.from(message.subarray(0, 640))));
    }),
  );
});
