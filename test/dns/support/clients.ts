/** Clients and guards that are closed at the end of the test. */

import { atEnd } from './atEnd.ts';
import { type Target, UdpClient } from './dnsClient.ts';
import { type GuardSetup, startGuardInFront } from './guardInFront.ts';
import { TcpClient } from './tcpClient.ts';

export async function openTcpClient(target: Target, from?: string): Promise<TcpClient> {
  const client = await TcpClient.open(target, from);
  atEnd(() => client.close());
  return client;
}

export async function openUdpClient(from?: string): Promise<UdpClient> {
  const client = await new UdpClient().open(from);
  atEnd(() => client.close());
  return client;
}

export async function startGuarded(...args: Parameters<typeof startGuardInFront>): Promise<GuardSetup> {
  const started = await startGuardInFront(...args);
  atEnd(() => started.stop());
  return started;
}
