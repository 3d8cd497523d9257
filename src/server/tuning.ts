import type { GatewayOptions } from '../ethereum/gateway/index.ts';

/** Values that operators cannot set, but tests can. Default: the constant of each part. */
export interface Tuning {
  /** Time in milliseconds that a fault must last before its alert fires, and be absent before it resolves. */
  readonly alertHoldMs?: number;
  readonly rateLimitWindowSeconds?: number;
  readonly spanIntervalMs?: number;
  readonly webSocket?: Partial<GatewayOptions['webSocket']>;
}
