/** Counters of DNS over TCP: connections, messages, verdicts on queries, and zone transfers. */
import { VERDICTS } from '../../../detector/index.ts';
import { readResultNames } from '../../../protocol/index.ts';

export const closeReasons = [
  'client',
  'idle',
  /** The client sent no complete query within the time limit after it had connected. */
  'no_query',
  /** The first bytes of a message arrived, but not the whole message within the time limit. */
  'slow_query',
  /** The client did not read its answers. */
  'not_reading',
  /** The client sent the maximum number of queries per connection. */
  'many_queries',
  /** The client sent data that is not a DNS query. */
  'no_dns',
  /** The slot of the connection was needed for another connection. */
  'replaced',
  /** The connection was rejected, because no slot was available for it. */
  'no_slot',
  /** The DNS server did not answer in time, or its connection ended. */
  'no_answer',
  /** A bug in Floodgate caused an exception. */
  'fault',
  /** The guard stops. */
  'stop',
] as const;
export type CloseReason = (typeof closeReasons)[number];

export class TcpCounts {
  accepted = 0;
  readonly closed: Record<CloseReason, number>;
  readonly messages = new Float64Array(readResultNames.length);
  readonly queries = new Float64Array(VERDICTS);
  readonly transfers = { allowed: 0, refused: 0 };

  constructor() {
    const none = closeReasons.map((reason) => [reason, 0] as const);
    this.closed = Object.fromEntries(none) as Record<CloseReason, number>; // includes every reason
  }
}
