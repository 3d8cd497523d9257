/**
 * A DNS server over UDP with a fixed capacity, like NSD on a processor that is too slow: it answers at most so many
 * queries per second, in order, from a queue of bounded length. It is a fake, because the capacity of a real server
 * depends on the machine. Arguments: queries per second, length of the queue. Sends its port to the parent process.
 */
import { createSocket } from 'node:dgram';

const NXDOMAIN = 3;
const FIRST_CHARACTER = 13;
/** Enough for the queries that arrive while this process waits for a processor. */
const BUFFER_BYTES = 4_000_000;

const [perSecond, maxQueued] = process.argv.slice(2).map(Number);
const queue = [];
const udp = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES });
udp.on('message', (query, client) => {
  if (queue.length < maxQueued) queue.push({ query, client });
});
udp.bind(0, '127.0.0.1', () => process.send(udp.address().port));

let answeredMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  // An idle server does not save capacity for later.
  const isIdle = queue.length === 0;
  for (
    const stepMs = 1000 / perSecond;
    queue.length > 0 && answeredMs + stepMs <= nowMs;
    answeredMs += stepMs
  )
    answer(queue.shift());
  if (isIdle) answeredMs = nowMs;
}, 1);

/** Answers names that begin with x with NXDOMAIN, and other names with NOERROR. */
function answer({ query, client }) {
  query[2] |= 0x80;
  if (query[FIRST_CHARACTER] === 'x'.charCodeAt(0)) query[3] = NXDOMAIN;
  udp.send(query, client.port, client.address);
}

// If the test is killed, the open socket would keep this process running.
process.once('disconnect', () => process.exit());
