import type { GatewayOptions } from '../ethereum/gateway/index.ts';
import type { FreeSpaceOptions } from './health/freeSpace.ts';

/** Values that operators cannot set, but tests can. Default: the constant of each part. */
export interface Tuning {
  /** Time in milliseconds that a fault must last before its alert fires, and be absent before it resolves. */
  readonly alertHoldMs?: number;
  /** Reads the space of a file system. Default: statfs. */
  readonly readSpace?: FreeSpaceOptions['readSpace'];
  readonly rateLimitWindowSeconds?: number;
  readonly spanIntervalMs?: number;
  readonly webSocket?: Partial<GatewayOptions['webSocket']>;
}
