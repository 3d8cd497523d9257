import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { NodeClient } from './nodeClient.ts';
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

it('a poll reads at most 4 MiB, whatever its timeout', async () => {
  let bytesSent = 0;
  const server = createServer((_request, response) => {
    const send = (): void => {
      bytesSent += MIB;
      if (bytesSent <= 64 * MIB) response.write(Buffer.alloc(MIB, ' '), send);
      else response.end();
    };
    send();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const client = new NodeClient(`http://127.0.0.1:${port}`);
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const heads = client.batch([['eth_chainId']], { isPoll: true, timeoutMs: 30_000 });
  await expect(heads).rejects.toThrow('more than 4194304 bytes');
});
