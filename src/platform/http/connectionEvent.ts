import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/** The event by which a server tells of a connection whose requests it reads: with TLS once that is agreed on. */
export const connectionEvent = (server: Server): 'connection' | 'secureConnection' =>
  server instanceof SecureServer ? 'secureConnection' : 'connection';
