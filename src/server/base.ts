import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import type { ClientAddress } from '../platform/addresses/index.ts';
import type { Scheduler } from '../platform/scheduler/index.ts';
import type { FreeSpace } from './health/freeSpace.ts';
import type { OpenedParts } from './roles.ts';
import type { Teardown } from './teardown.ts';
import type { Tuning } from './tuning.ts';

export interface ServerContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly opened: OpenedParts;
  readonly tuning: Tuning;
  readonly freeSpace: FreeSpace;
  /** Divides the processor time of this process among the clients of all listeners. */
  readonly scheduler: Scheduler;
  /** Closes open resources on stop; each part adds its own steps. */
  readonly teardown: Teardown;
  /** Number of processes that serve the gateway; 1 if this process serves it without workers. */
  readonly workerCount: number;
  /** Whether workers receive, count and log all requests, and relay those of operators to this process. */
  readonly isRelayed: boolean;
  readonly clientAddress: ClientAddress;
  /** Returns whether the client sent a request over TLS, to this server or to a trusted proxy. */
  readonly isHttps: (request: IncomingMessage) => boolean;
}
