/**
 * The upper bound for the rules API: node:http without anything else, sending the same bytes. A change is parsed as
 * JSON, as any server must, and not stored.
 *
 * Run in a separate process: `node rulesBareServer.js ANSWERS.json` prints its URL.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const answers = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as { list: string; change: string };
const list = Buffer.from(answers.list);
const change = Buffer.from(answers.change);

const server = createServer((request, response) => {
  const answer = (body: Buffer) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  };
  if (request.method === 'GET') return answer(list);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    answer(change);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
