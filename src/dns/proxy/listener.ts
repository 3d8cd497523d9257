import { once } from 'node:events';
import type { Judge } from '../judge.ts';
import type { ServerAddress } from './backend.ts';
import type { Backends } from './backends.ts';
import { type OnTcpAnswer, TcpRelay } from './tcpRelay.ts';
import { UdpFront } from './udpFront.ts';

export interface Listener {
  readonly front: UdpFront;
  readonly relay: TcpRelay;
  readonly address: ServerAddress;
}

export interface ListenerParts {
  /** The number of this listener, under which its answers come back. */
  readonly front: number;
  readonly judge: Judge;
  readonly backends: Backends;
  readonly guarded: boolean;
  readonly onTcpAnswer: OnTcpAnswer;
}

/** A port that is free over TCP may be taken over UDP: so many are tried for port 0. */
const PORT_ATTEMPTS = 20;

/** Listens for UDP and TCP on one port; port 0 takes one that is free for both. Rejects where it is not. */
export async function listenAt({ host, port }: ServerAddress, parts: ListenerParts): Promise<Listener> {
  for (let attempt = 1; ; attempt++) {
    const relay = new TcpRelay(() => parts.backends.inOrder(), parts.onTcpAnswer);
    const front = new UdpFront(host, parts.front, parts.judge, parts.backends, parts.guarded);
    try {
      relay.server.listen(port, host);
      await once(relay.server, 'listening');
      const bound = relay.server.address();
      const address = { host, port: typeof bound === 'object' && bound !== null ? bound.port : port };
      await front.listen(host, address.port);
      return { front, relay, address };
    } catch (error) {
      await Promise.all([relay.close(), front.close()]);
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}
