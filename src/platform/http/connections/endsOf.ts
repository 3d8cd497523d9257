import type { Socket } from 'node:net';

/** Both addresses and ports of a TCP connection. No two open connections have the same. */
export const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
