/** Counters of DNS over TCP, with a fixed set of labels. */
import { VERDICTS } from '../../../detector/index.ts';
import { readResultNames } from '../../../protocol/index.ts';

export const closeReasons = [
  'client',
  'idle',
  /** The client sent no complete query in time after connecting. */
  'no_query',
  /** A message began, but did not arrive completely in time. */
  'slow_query',
  /** The client did not read its answers. */
  'not_reading',
  /** The maximum number of queries per connection was reached. */
  'many_queries',
  /** The client sent data that is not a DNS query. */
  'no_dns',
  'gave_way',
  /** Rejected because no connection slot was free. */
  'no_place',
  'no_answer',
  'fault',
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
