import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { TcpCounts } from './tcpCounts.ts';

export interface TcpFigures {
  /** Open connections of clients. */
  readonly connections: number;
  readonly serverConnections: number;
  /** Number of DNS servers that answer over TCP. */
  readonly serversUp: number;
  readonly counts: TcpCounts;
  /** Number of SERVFAIL answers of the guard itself. */
  readonly servfails: number;
  /** Number of answers from which the detector did not learn because it was too busy. */
  readonly unlearned: number;
  readonly faults: number;
}

export const noTcpFigures = (): TcpFigures => ({
  connections: 0,
  serverConnections: 0,
  serversUp: 0,
  counts: new TcpCounts(),
  servfails: 0,
  unlearned: 0,
  faults: 0,
});

/** Relays DNS over TCP between clients and DNS servers, in the main thread or in a thread of its own. */
export interface TcpRelay {
  readonly figures: TcpFigures;
  /** Listens on an address, which gets the number `frontend`. Returns the port. Rejects if it cannot be bound. */
  listen(frontend: number, address: ServerAddress): Promise<number>;
  unlisten(frontend: number): Promise<void>;
  /** Called every second. */
  tick(): void;
  close(): Promise<void>;
}
