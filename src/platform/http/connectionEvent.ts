import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/** Returns a server's event for a usable connection. With TLS it is `secureConnection`, after the handshake. */
export const connectionEvent = (server: Server): 'connection' | 'secureConnection' =>
  server instanceof SecureServer ? 'secureConnection' : 'connection';
