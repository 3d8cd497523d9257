/**
 * Messages between the main thread and its receiver threads, such as learned answers, counters and listen addresses.
 * Packets are not passed between threads.
 */

import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import type { BackgroundFailure } from '../../../../platform/background/index.ts';
import type { SampleBatch, SharedState } from '../../../detector/index.ts';
import type { HashKey } from '../../../protocol/index.ts';
import type { DnsServer } from '../../index.ts';
import type { ResponseRateLimitOptions } from '../responseRateLimit.ts';
import type { ServerState } from './udpRelay.ts';

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

/** Counters of a thread since its start. */
export interface ThreadCounts {
  readonly packets: readonly number[];
  readonly servers: readonly ServerState[];
  /** Number of answers that were discarded because the detector was too busy to learn from them. */
  readonly lost: number;
  readonly limited: number;
  readonly faults: number;
}

export type ToThread =
  | { readonly kind: 'listen'; readonly frontend: number; readonly address: ServerAddress }
  | { readonly kind: 'leave'; readonly frontend: number }
  | { readonly kind: 'heard' }
  | { readonly kind: 'stop' };

export type FromThread =
  /** The thread has loaded its code and waits for its task. */
  | { readonly kind: 'loaded' }
  /** The thread has its configuration and can receive listen addresses. */
  | { readonly kind: 'ready' }
  /** Result of a `listen` message. The error code is a separate field, because it is lost when an error is cloned. */
  | {
      readonly kind: 'listening';
      readonly frontend: number;
      readonly fault?: { readonly message: string; readonly code: string | undefined };
    }
  | { readonly kind: 'left'; readonly frontend: number }
  | { readonly kind: 'answers'; readonly batch: Uint32Array }
  /** Zone that was named in a negative answer, in wire form. */
  | { readonly kind: 'zone'; readonly wire: Uint8Array }
  /** The rate of unknown names in the zone with this index reached the alarm threshold. */
  | { readonly kind: 'alarm'; readonly zone: number }
  | { readonly kind: 'samples'; readonly batch: SampleBatch }
  | { readonly kind: 'fault'; readonly fault: string }
  /** Background work of the thread failed. */
  | ({ readonly kind: 'failure' } & BackgroundFailure)
  | { readonly kind: 'counts'; readonly counts: ThreadCounts };
