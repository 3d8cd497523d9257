import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import type { SampleBatch } from '../../../detector/index.ts';
import type { Backend } from '../servers/backend.ts';

export type ServerState = Pick<
  Backend,
  'address' | 'status' | 'unreachable' | 'answered' | 'timedOut' | 'mismatched' | 'retried'
> & {
  readonly up: boolean;
  readonly inFlight: { readonly waiting: number };
};

/** Relays DNS over UDP between clients and DNS servers, in the main thread or in several threads. */
export interface UdpRelay {
  /** Listens on an address, which gets the number `frontend`. Rejects if the address cannot be bound. */
  listen(frontend: number, address: ServerAddress): Promise<void>;
  unlisten(frontend: number): Promise<void>;
  readonly servers: readonly ServerState[];
  /** Returns the number of received packets, indexed by parse result. */
  packets(): readonly number[];
  /** Returns the number of answers from which the detector did not learn because it was too busy. */
  unlearned(): number;
  limited(): number;
  /** Returns the number of SERVFAIL answers of the guard itself. */
  servfails(): number;
  takeSamples(): readonly SampleBatch[];
  faults(): number;
  /** Called every second. */
  tick(nowMs: number): void;
  close(): Promise<void>;
}
