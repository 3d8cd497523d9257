/**
 * The upper bound for comparisons: node:http without anything else. It parses the JSON-RPC request, as any server
 * must, and sends as many bytes as the compared response has; the request's `id` is its index.
 *
 * Run in a separate process: `node bareServer.js SIZES.json` prints its URL.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const sizes = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as number[];
const filler = Buffer.alloc(Math.max(1, ...sizes), 'a');

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number };
    const size = sizes[id] ?? 0;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': size });
    response.end(filler.subarray(0, size));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
