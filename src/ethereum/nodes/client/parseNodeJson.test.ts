import { expect, it } from 'vitest';
import { parseNodeJson } from './parseNodeJson.ts';
import { readResponse } from './readResponse.ts';
import { parseBody } from './rpcResponse.ts';

const MIB = 1024 * 1024;
const listOf = (item: string, bytes: number): Buffer =>
  Buffer.from(`[${`${item},`.repeat(bytes / (item.length + 1))}${item}]`);

it.each(['[]', '{}', '{"a":1}', '[[]]'])(
  'a large response of many %s is rejected before it is parsed',
  (item) => {
    const bytes = listOf(item, MIB);
    expect(() => parseNodeJson(bytes)).toThrow(/list or object per 16 bytes/);
    expect(() => parseBody(bytes, 200, 'a.example')).toThrow('not JSON');
    const result = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"result":'), bytes, Buffer.from('}')]);
    expect(() => readResponse(result, 'a.example')).toThrow('not JSON-RPC');
  },
);

it.each([
  ['frames with long addresses', `{"action":{"value":"0x0"},"traceAddress":[${'0,'.repeat(1_000)}0]}`],
  ['logs', '{"address":"0x00","data":"0x","topics":["0x"]}'],
  ['texts', `"0x${'0'.repeat(64)}"`],
])('a large response of %s is parsed', (_what, item) => {
  const bytes = listOf(item, MIB);
  expect(parseNodeJson(bytes)).toEqual(JSON.parse(bytes.toString()));
});

it('a small response of any structure is parsed', () => {
  expect(parseNodeJson(listOf('[]', 32 * 1024))).toHaveLength(10_923);
});
