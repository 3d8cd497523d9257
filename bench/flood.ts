/**
 * Sends requests of an unsupported method at a fixed rate, whatever the server does, over connections that do not wait
 * for answers: `node flood.js URL RATE`. Prints a URL of its own, which answers with how many were refused so far.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';

// Those who flood have machines of their own: here they must not take the processor from whoever is measured. The rate that
// is reached is measured, too.
setPriority(10);

const [, , target = '', rate = '0'] = process.argv;
const { hostname, port, pathname, host } = new URL(target);
const CONNECTIONS = 16;
/** Short, so that requests come one by one as those of many clients do, not in bursts. */
const TICK_MS = 1;
const ANSWER_START = 'HTTP/1.1 403';

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}';
const request = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

let refused = 0;
const sockets = Array.from({ length: CONNECTIONS }, () => {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.setEncoding('latin1').on('data', (text) => {
    refused += String(text).split(ANSWER_START).length - 1;
  });
  socket.on('error', () => process.exit(1));
  return socket;
});

const startMs = performance.now();
let sent = 0;
let next = 0;
setInterval(() => {
  const due = Math.floor(((performance.now() - startMs) / 1_000) * Number(rate)) - sent;
  sent += due;
  for (let i = 0; i < due; i++) sockets[next++ % CONNECTIONS]?.write(request);
}, TICK_MS);

const server = createServer((_request, response) => response.end(String(refused)));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
