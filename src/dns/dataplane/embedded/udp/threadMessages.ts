/**
 * Messages between the main thread and the threads that receive UDP queries: listen addresses, learned answers,
 * counters. Packets are not passed between threads.
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
  readonly responseTimes: SharedArrayBuffer;
  /** Whether several sockets listen on each port, in this thread and possibly in other threads. */
  readonly sharesPorts: boolean;
  readonly timeoutMs: number;
  readonly guarded: boolean;
}

/** Counters of a receiver thread since its start. */
export interface ThreadCounts {
  readonly packets: readonly number[];
  readonly servers: readonly ServerState[];
  /** Number of answers that were discarded because the detector was too busy to learn from them. */
  readonly lost: number;
  readonly limited: number;
  readonly servfails: number;
  readonly faults: number;
}

export type ToThread =
  | { readonly kind: 'listen'; readonly frontend: number; readonly address: ServerAddress }
  | { readonly kind: 'leave'; readonly frontend: number }
  | { readonly kind: 'heard' }
  | { readonly kind: 'stop' };

export type FromThread =
  /** The thread has loaded its code, and waits for a `ThreadTask`. */
  | { readonly kind: 'loaded' }
  /** The thread has opened its sockets to the DNS servers, and can receive `listen` messages. */
  | { readonly kind: 'ready' }
  /** Reply to a `listen` message. The error is sent as fields, because a cloned `Error` loses its `code`. */
  | {
      readonly kind: 'listening';
      readonly frontend: number;
      readonly fault?: { readonly message: string; readonly code: string | undefined };
    }
  | { readonly kind: 'left'; readonly frontend: number }
  | { readonly kind: 'answers'; readonly batch: Uint32Array }
  /** A negative answer named a zone. `wire`: name of this zone in wire form. */
  | { readonly kind: 'zone'; readonly wire: Uint8Array }
  /** The rate of queries for unknown names in a zone has reached the alarm threshold. `zone`: zone number. */
  | { readonly kind: 'alarm'; readonly zone: number }
  | { readonly kind: 'samples'; readonly batch: SampleBatch }
  | { readonly kind: 'fault'; readonly fault: string }
  /** A background task of the thread failed. */
  | ({ readonly kind: 'failure' } & BackgroundFailure)
  | { readonly kind: 'counts'; readonly counts: ThreadCounts };
