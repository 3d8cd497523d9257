/** What is counted of DNS over TCP: numbers by names that are known beforehand. */
import { VERDICTS } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';

/** Why a connection was closed. */
export const closeReasons = [
  /** By the client. */
  'client',
  /** It was idle for too long. */
  'idle',
  /** No whole message came in time. */
  'no_query',
  /** A message took too long to come. */
  'slow_query',
  /** The client did not take its answers. */
  'not_reading',
  /** It had as many queries as a connection may have. */
  'many_queries',
  /** What came is no DNS query. */
  'no_dns',
  /** Another client's connection took its place. */
  'gave_way',
  /** It found no place. */
  'no_place',
  /** No server answered. */
  'no_answer',
  /** Handling it failed, by a fault of Floodgate. */
  'fault',
  /** The guard stopped. */
  'stop',
] as const;
export type CloseReason = (typeof closeReasons)[number];

export class TcpCounts {
  accepted = 0;
  readonly closed: Record<CloseReason, number>;
  /** Messages of clients by what came of reading them, by the number of the result. */
  readonly messages = new Float64Array(readResultNames.length);
  /** Queries that were decided about, by the number of the verdict. */
  readonly queries = new Float64Array(VERDICTS);
  readonly transfers = { allowed: 0, refused: 0 };

  constructor() {
    const none = closeReasons.map((reason) => [reason, 0] as const);
    this.closed = Object.fromEntries(none) as Record<CloseReason, number>; // every reason is among them
  }
}
