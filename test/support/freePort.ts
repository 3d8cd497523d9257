import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/**
 * Below the ephemeral ports of any system, so that no other test receives the same port in between; above the ports
 * of usual services.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 31_999;

/**
 * Returns a port that is free over UDP and TCP, for a program that cannot listen on port 0, or for a restart on the
 * same port. Another process may take it before it is used; if that matters, use `startOnFreePort`.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    if ((await freeOverUdp(port)) && (await freeOverTcp(port))) return port;
  }
}

async function freeOverUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, LOOPBACK);
  const free = await once(socket, 'listening').then(
    () => true,
    () => false,
  );
  await new Promise<void>((resolve) => socket.close(resolve));
  return free;
}

async function freeOverTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port, LOOPBACK);
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (free) await new Promise((resolve) => server.close(resolve));
  return free;
}

/** Error messages of such programs if the port is in use. */
const TAKEN = /address already in use|can't bind|could not bind/i;
const ATTEMPTS = 5;

/** Starts a program that listens on ports of `freePort`, and retries with others if they were taken in between. */
export async function startOnFreePort<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === ATTEMPTS || !TAKEN.test(String(error))) throw error;
    }
  }
}
