/** What the guard and its threads say to each other. Packets never cross: only what was learned, counts, and where to listen. */

import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { SampleBatch, SharedState } from '../../detector/index.ts';
import type { HashKey } from '../../protocol/index.ts';
import type { DnsServer } from '../index.ts';
import type { LimitedAnswers, ResponseRateLimitOptions } from './responseRateLimit.ts';
import type { ServerState } from './udpRelay.ts';

/** What a thread is to do: the first message that it gets. */
export interface ThreadTask {
  readonly key: HashKey;
  readonly sharedState: SharedState;
  readonly servers: readonly DnsServer[];
  readonly probeName?: string | undefined;
  readonly responseRateLimit?: ResponseRateLimitOptions | undefined;
  readonly rateCounters?: SharedArrayBuffer | undefined;
  readonly timeoutMs: number;
  readonly guarded: boolean;
}

/** What a thread has counted since its start. */
export interface ThreadCounts {
  readonly packets: readonly number[];
  readonly servers: readonly ServerState[];
  /** Answers that taught nothing because the detector was too busy. */
  readonly lost: number;
  /** Answers above the limit of equal ones. */
  readonly limited: LimitedAnswers;
  /** Packets whose handling failed by a fault of ours. */
  readonly faults: number;
}

export type ToThread =
  | { readonly kind: 'listen'; readonly frontend: number; readonly address: ServerAddress }
  | { readonly kind: 'leave'; readonly frontend: number }
  | { readonly kind: 'heard' }
  | { readonly kind: 'stop' };

export type FromThread =
  /** It has loaded what it runs, and waits for its task. */
  | { readonly kind: 'loaded' }
  /** Ready to be told where to listen. */
  | { readonly kind: 'ready' }
  /** It listens where it was told to, or why not: an error that crosses loses its code. */
  | {
      readonly kind: 'listening';
      readonly frontend: number;
      readonly fault?: { readonly message: string; readonly code: string | undefined };
    }
  /** It listens there no more. */
  | { readonly kind: 'left'; readonly frontend: number }
  | { readonly kind: 'answers'; readonly batch: Uint32Array }
  /** A zone that a negative answer named, in wire form. */
  | { readonly kind: 'zone'; readonly wire: Uint8Array }
  /** Many unknown names are asked for in the zone with this number. */
  | { readonly kind: 'alarm'; readonly zone: number }
  /** Queries that an attack cost, sampled. */
  | { readonly kind: 'samples'; readonly batch: SampleBatch }
  /** What was thrown while a packet was handled. */
  | { readonly kind: 'fault'; readonly fault: string }
  | { readonly kind: 'counts'; readonly counts: ThreadCounts };
