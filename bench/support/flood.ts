/**
 * Sends requests of an unsupported method at a fixed rate over 16 connections. They do not wait for responses, and
 * reconnect at once when the server closes them: `node flood.js URL RATE`. Prints a URL that returns the number of
 * responses so far.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';

// Attackers have their own machines, so this process must not take processor time from the measured clients. The
// reached rate is measured, too.
setPriority(10);

const [, , target = '', rate = '0'] = process.argv;
const { hostname, port, pathname, host } = new URL(target);
const CONNECTIONS = 16;
/** Short, so that requests arrive one by one like those of many clients. */
const TICK_MS = 1;
const ANSWER_START = Buffer.from('HTTP/1.1 ');
const READ_BYTES = 64 * 1024;
/** Maximum number of requests in flight per connection. */
const MAX_AHEAD = 90;

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}';
const request = Buffer.from(
  `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
);

let answers = 0;
let sent = 0;

/** Keeps one connection open. Returns a function that sends a request. */
function flood(): () => void {
  let ahead = 0;
  let tail = Buffer.alloc(0);
  const open = () => {
    // Requests without a response are sent again.
    sent -= ahead;
    ahead = 0;
    tail = Buffer.alloc(0);
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BYTES), callback: count },
    });
    // The connection is reset if the server closes it while requests are in transit.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') process.exit(1);
    });
    socket.once('close', () => {
      if (current === socket) current = open();
    });
    socket.once('end', () => {
      if (current === socket) current = open();
    });
    return socket;
  };
  let current = open();
  return () => {
    if (ahead >= MAX_AHEAD) return;
    ahead++;
    current.write(request);
  };

  /** Counts responses in the read buffer, because processor time of the flood is lost for the measured clients. */
  function count(bytes: number, buffer: Uint8Array): boolean {
    const read = Buffer.concat([tail, buffer.subarray(0, bytes)]);
    for (let at = read.indexOf(ANSWER_START); at !== -1; at = read.indexOf(ANSWER_START, at + 1)) {
      answers++;
      ahead--;
    }
    tail = read.subarray(-(ANSWER_START.length - 1));
    return true;
  }
}

const floods = Array.from({ length: CONNECTIONS }, flood);
const startMs = performance.now();
let next = 0;
setInterval(() => {
  const due = Math.floor(((performance.now() - startMs) / 1_000) * Number(rate)) - sent;
  sent += due;
  for (let i = 0; i < due; i++) floods[next++ % CONNECTIONS]?.();
}, TICK_MS);

const server = createServer((_request, response) => response.end(String(answers)));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
