import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/** Returns the event for a usable connection; with TLS `secureConnection`, which follows the handshake. */
export const connectionEvent = (server: Server): 'connection' | 'secureConnection' =>
  server instanceof SecureServer ? 'secureConnection' : 'connection';
