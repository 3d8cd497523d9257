import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

interface Box {
  readonly name: string;
  readonly text: string;
  readonly required: boolean;
}

/** A script for browsers: the compiler of this program does not read it, that of its own folder does. */
interface Calls {
  paramsOf(boxes: readonly Box[]): { params: unknown[] } | { faults: string[] };
  bodyOf(method: string, params: readonly unknown[]): string;
  curlOf(call: { url: string; body: string; hasKey: boolean }): string;
  indented(text: string): string;
  cut(text: string): string;
  isFound(method: { name: string; summary?: string }, wanted: string): boolean;
}
const { paramsOf, bodyOf, curlOf, indented, cut, isFound }: Calls = await import(
  new URL('./calls.js', import.meta.url).href
);

const box = (text: string, required = false): Box => ({ name: 'block', text, required });

describe('what somebody has typed in', () => {
  it.each<[readonly Box[], unknown]>([
    [[], { params: [] }],
    [[box('latest')], { params: ['latest'] }],
    [[box(' 0x10\n')], { params: ['0x10'] }],
    [[box('"0x10"')], { params: ['0x10'] }],
    [[box('16')], { params: [16] }],
    [[box('true')], { params: [true] }],
    [[box('{"a":[1]}')], { params: [{ a: [1] }] }],
    // What is left out at the end is not sent, in the middle it is null.
    [[box('a'), box('')], { params: ['a'] }],
    [[box(''), box('b')], { params: [null, 'b'] }],
    [[box('')], { params: [] }],
  ])('%j', (boxes, expected) => expect(paramsOf(boxes)).toEqual(expected));

  it.each([
    [[box('', true)], /block is empty; it is required/],
    [[box('{"a":')], /block is no JSON/],
    [[box('[1,]')], /block is no JSON/],
    [[box('"a')], /block is no JSON/],
  ])('%j is not sent', (boxes, fault) => {
    expect(paramsOf(boxes)).toEqual({ faults: [expect.stringMatching(fault)] });
  });

  it('is sent as the value that it is, whatever that is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = paramsOf([box(JSON.stringify(value), true)]);
        expect(read).toEqual({ params: [JSON.parse(JSON.stringify(value))] });
        expect(JSON.parse(bodyOf('eth_call', [value])).params).toEqual([JSON.parse(JSON.stringify(value))]);
      }),
    );
  });
});

it('a command for a shell ends no quotation and holds no key', () => {
  const call = { url: 'http://127.0.0.1/v1/mainnet', body: `{"a":"'; rm -rf ~ #"}` };
  expect(curlOf({ ...call, hasKey: true })).toBe(
    `curl 'http://127.0.0.1/v1/mainnet' -H 'Content-Type: application/json' -H "Authorization: Bearer $API_KEY" --data '{"a":"'\\''; rm -rf ~ #"}'`,
  );
  expect(curlOf({ ...call, hasKey: false })).not.toContain('Authorization');
});

it('answers are shown on several lines, and not without end', () => {
  expect(indented('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(indented('<b>no JSON</b>')).toBe('<b>no JSON</b>');
  expect(cut('x'.repeat(200_000))).toHaveLength(200_000);
  expect(cut('x'.repeat(5_000_000))).toMatch(/x\n… and 4800000 more characters$/);
});

it('methods are found by words of their names and summaries', () => {
  const method = { name: 'eth_getLogs', summary: 'The logs of a block.' };
  expect(['', 'GETLOGS', 'logs block', ' eth '].map((wanted) => isFound(method, wanted))).toEqual(
    Array(4).fill(true),
  );
  expect(isFound(method, 'logs trace')).toBe(false);
});
