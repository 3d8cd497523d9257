/**
 * A stand-in for a node, for benchmarks alone: it knows the last block of a chain that is indexed already, so that the
 * server under test is ready and has nothing to fetch. It is no node, and no test uses it.
 *
 * Run as a process of its own: `node headNode.js HEADERS.json` prints its URL. The file has the headers of genesis and head.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { genesis, head } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  genesis: object;
  head: object;
};

interface NodeRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

function answer({ id, method, params }: NodeRequest): object {
  if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x1' };
  if (method === 'eth_getBlockByNumber')
    return { jsonrpc: '2.0', id, result: params[0] === '0x0' ? genesis : head };
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'the stand-in has no such method' } };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as NodeRequest | NodeRequest[];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body)));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
