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
const ANSWER_START = Buffer.from('HTTP/1.1 403');
const READ_BYTES = 64 * 1024;
/** As many as a client keeps ahead that does not wait; the rate that is reached is measured. */
const MAX_AHEAD = 90;

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}';
const request = Buffer.from(
  `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
);

let refused = 0;
const connections = Array.from({ length: CONNECTIONS }, () => {
  const connection = {
    ahead: 0,
    socket: connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BYTES), callback: count },
    }),
  };
  connection.socket.on('error', () => process.exit(1));
  return connection;

  /** Counted where they were read to: the processor that the flood takes is missing to those who are measured. */
  function count(bytes: number, buffer: Uint8Array): boolean {
    const read = Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
    for (let at = read.indexOf(ANSWER_START); at !== -1; at = read.indexOf(ANSWER_START, at + 1)) {
      refused++;
      connection.ahead--;
    }
    return true;
  }
});

const startMs = performance.now();
let sent = 0;
let next = 0;
setInterval(() => {
  const due = Math.floor(((performance.now() - startMs) / 1_000) * Number(rate)) - sent;
  sent += due;
  for (let i = 0; i < due; i++) {
    const connection = connections[next++ % CONNECTIONS];
    if (connection === undefined || connection.ahead >= MAX_AHEAD) continue;
    connection.ahead++;
    connection.socket.write(request);
  }
}, TICK_MS);

const server = createServer((_request, response) => response.end(String(refused)));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
