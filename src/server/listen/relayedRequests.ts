/** Requests of operators that workers relay to the first process. */
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import type { ClientAddress } from '../../platform/addresses/index.ts';
import { opsListenAddress } from './listenAddresses.ts';

/** Header with the address of the client. Only workers can connect to the socket, so no client can forge it. */
export const CLIENT_ADDRESS_HEADER = 'floodgate-client';
/** Header that tells whether the client used TLS. */
export const HTTPS_HEADER = 'floodgate-https';

/** Returns the socket to which workers relay operators' requests; undefined if operators have their own listener. */
export const relayPathOf = (config: Config): string | undefined =>
  opsListenAddress(config) === undefined ? join(config.dataDir, 'operators.sock') : undefined;

/** Read the client address of a request that a worker forwarded, and whether the client used TLS. */
export const RELAYED: Readonly<RequestReaders> = {
  clientAddress: ({ headers }) => String(headers[CLIENT_ADDRESS_HEADER] ?? ''),
  isHttps: ({ headers }) => headers[HTTPS_HEADER] === 'true',
};

export interface RequestReaders {
  readonly clientAddress: ClientAddress;
  readonly isHttps: (request: IncomingMessage) => boolean;
}
