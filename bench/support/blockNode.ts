/**
 * A fake node for benchmarks: it sends generated blocks as stored bytes, so that the server is measured and not the
 * node. Tests do not use it.
 *
 * Run in a separate process: `node blockNode.js FOLDER` prints its URL. madeChain.ts creates the folder.
 */
import { createServer } from 'node:http';
import { openMadeChain } from './madeChain.ts';

const chain = openMadeChain(process.argv[2] ?? '');

interface NodeRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

const numberOf = (block: unknown): number => {
  if (block === 'latest') return chain.last;
  return block === '0x0' ? 0 : Number(block);
};

function result({ method, params }: NodeRequest): Buffer {
  const number = numberOf(params[0]);
  const known = number === 0 || (number >= chain.first && number <= chain.last);
  if (method === 'eth_chainId') return Buffer.from('"0x1"');
  if (method === 'web3_clientVersion') return Buffer.from('"benchmark"');
  if (method === 'eth_getBlockByNumber') return known ? chain.header(number) : Buffer.from('null');
  if (method === 'eth_getBalance') return Buffer.from('"0x1"');
  if (method === 'trace_block') return known && number > 0 ? chain.traces(number) : Buffer.from('[]');
  return Buffer.from('null');
}

function answer(request: NodeRequest): Buffer[] {
  return [
    Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":`),
    result(request),
    Buffer.from('}'),
  ];
}

function answerAll(requests: readonly NodeRequest[]): Buffer[] {
  const parts = requests.flatMap((request, i) => [Buffer.from(i === 0 ? '[' : ','), ...answer(request)]);
  return [...parts, Buffer.from(']')];
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as NodeRequest | NodeRequest[];
    response.setHeader('content-type', 'application/json');
    response.end(Buffer.concat(Array.isArray(body) ? answerAll(body) : answer(body)));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
