import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/**
 * Returns the event that a server emits for a usable connection. With TLS it is `secureConnection`, which follows the
 * handshake.
 */
export const connectionEvent = (server: Server): 'connection' | 'secureConnection' =>
  server instanceof SecureServer ? 'secureConnection' : 'connection';
