import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readResponse } from './readResponse.ts';
import { ResultSpan } from './resultSpan.ts';

const read = (text: string) => readResponse(Buffer.from(text), 'node:1');

describe('readResponse', () => {
  it('returns the exact bytes of any result, for any order and spacing of the members', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.shuffledSubarray(['jsonrpc', 'id', 'result'], { minLength: 3 }),
        fc.constantFrom('', ' ', '\n  '),
        (result, order, space) => {
          const members: Record<string, string> = { jsonrpc: '"2.0"', id: '1', result };
          const text = order.map((name) => `${space}"${name}"${space}:${space}${members[name]}`).join(',');
          const answer = read(`{${text}${space}}`);
          expect(answer.kind === 'result' && answer.bytes.toString().trim()).toBe(result.trim());
        },
      ),
    );
  });

  it('keeps every digit of a number', () => {
    const answer = read('{"jsonrpc":"2.0","id":1,"result":12345678901234567890.10}');
    expect(answer.kind === 'result' && answer.bytes.toString()).toBe('12345678901234567890.10');
  });

  it('returns the error if there is one, even if there is a result', () => {
    const answer = read(
      '{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":3,"message":"no","data":"0x"}}',
    );
    expect(answer).toEqual({ kind: 'error', code: 3, message: 'no', data: '0x' });
  });

  it('omits the data of an error that is nested too deeply to be sent to a client', () => {
    const errorOf = (depth: number) =>
      read(`{"id":1,"error":{"code":3,"message":"m","data":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
    expect(errorOf(20_000)).toEqual({ kind: 'error', code: 3, message: 'm' });
    expect(errorOf(64)).toMatchObject({ data: expect.any(Array) });
  });

  it('never returns bytes that are not JSON', () => {
    fc.assert(
      fc.property(fc.string(), (inside) => {
        try {
          const answer = read(`{"jsonrpc":"2.0","id":1,"result":${inside}}`);
          if (answer.kind === 'result') JSON.parse(answer.bytes.toString());
        } catch (error) {
          expect(String(error)).toMatch(/NodeError/);
        }
      }),
    );
  });

  it.each([
    '',
    'x',
    '1',
    '[]',
    'null',
    '{}',
    '{"jsonrpc":"2.0","id":2,"result":1}',
    '{"jsonrpc":"2.0","id":1}',
  ])('rejects %j as nonsense', (text) => expect(() => read(text)).toThrow(/node:1 answered/));
});

describe('ResultSpan', () => {
  it('finds the same end for any split of the bytes', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const bytes = Buffer.from(`${value},"id":1}`);
        const span = new ResultSpan();
        let end: number | undefined;
        for (let at = 0; at < bytes.length && end === undefined; at += size) {
          const length = span.feed(bytes.subarray(at, at + size));
          if (length !== undefined) end = at + length;
        }
        expect(end).toBe(Buffer.byteLength(value));
      }),
    );
  });
});
