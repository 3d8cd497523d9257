/** Clients, and guards with a server behind, that are closed when the test is over. */

import { type Target, UdpClient } from './dnsClient.ts';
import { atEnd } from './ends.ts';
import { guardInFront, type Protected } from './guardInFront.ts';
import { TcpClient } from './tcpClient.ts';

export async function tcp(target: Target, from?: string): Promise<TcpClient> {
  const client = await TcpClient.open(target, from);
  atEnd(() => client.close());
  return client;
}

export async function udp(from?: string): Promise<UdpClient> {
  const client = await new UdpClient().open(from);
  atEnd(() => client.close());
  return client;
}

export async function guarded(...args: Parameters<typeof guardInFront>): Promise<Protected> {
  const started = await guardInFront(...args);
  atEnd(() => started.stop());
  return started;
}
