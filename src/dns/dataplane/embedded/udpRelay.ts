import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { SampleBatch } from '../../detector/index.ts';
import type { DnsServer } from '../index.ts';
import type { Backend } from './backend.ts';
import type { LimitedAnswers } from './responseRateLimit.ts';

/** A server behind, as the metrics tell of it. */
export type ServerState = Pick<
  Backend,
  'address' | 'standing' | 'unreachable' | 'answered' | 'timedOut' | 'mismatched' | 'retried'
> & {
  /** Whether it answers as it should. */
  readonly up: boolean;
  readonly inFlight: { readonly waiting: number };
};

/** DNS over UDP between clients and the servers behind, in this thread or in several. */
export interface UdpRelay {
  /** Listens at an address that has this number. Rejects where it cannot be bound. */
  listen(frontend: number, address: ServerAddress): Promise<void>;
  /** Listens there no more. */
  leave(frontend: number): Promise<void>;
  readonly servers: readonly ServerState[];
  /** The servers in the order in which a TCP connection tries them. */
  inOrder(): DnsServer[];
  /** Packets by what came of reading them, by the number of the result. */
  packets(): readonly number[];
  /** Answers that taught nothing, because the detector was too busy to hear of them. */
  unlearned(): number;
  /** Answers above the limit of equal answers to one network. */
  limited(): LimitedAnswers;
  /** What was sampled since the last call of the queries that an attack cost. */
  takeSamples(): readonly SampleBatch[];
  /** Packets whose handling failed by a fault of ours. */
  faults(): number;
  /** Call it every second. */
  tick(nowMs: number): void;
  close(): Promise<void>;
}
