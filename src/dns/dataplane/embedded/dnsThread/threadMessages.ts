/**
 * Messages between the main thread and the DNS threads: listen addresses, learned answers, counters. Packets are not
 * passed between threads.
 */

import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import type { BackgroundFailure } from '../../../../platform/background/index.ts';
import type { SampleBatch, SharedState } from '../../../detector/index.ts';
import type { HashKey } from '../../../protocol/index.ts';
import type { HealthStatus } from '../servers/serverHealth.ts';
import type { LocalTcpRelayOptions } from '../tcp/localTcpRelay.ts';
import type { TcpFigures } from '../tcp/tcpRelay.ts';
import type { LocalUdpRelayOptions } from '../udp/localUdpRelay.ts';
import type { ServerState } from '../udp/udpRelay.ts';

export interface UdpTask extends LocalUdpRelayOptions {
  readonly kind: 'udp';
  readonly rateCounters?: SharedArrayBuffer | undefined;
  readonly responseTimes: SharedArrayBuffer;
}

export interface TcpTask extends LocalTcpRelayOptions {
  readonly kind: 'tcp';
}

export type ThreadTask = (UdpTask | TcpTask) & { readonly key: HashKey; readonly sharedState: SharedState };

/** Counters of a UDP thread since its start. */
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
  /** Health of the DNS servers over UDP. For the TCP thread. */
  | { readonly kind: 'udpHealth'; readonly statuses: readonly HealthStatus[] }
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
      readonly port: number;
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
  /** A connection over TCP was not accepted. */
  | { readonly kind: 'notAccepted'; readonly reason: string }
  | { readonly kind: 'counts'; readonly counts: ThreadCounts }
  | { readonly kind: 'tcpFigures'; readonly figures: TcpFigures };
