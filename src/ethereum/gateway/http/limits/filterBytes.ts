import type { LogFilter } from '../../methods/logFilter.ts';
import type { WantedTraces } from '../../traceIndex/history/params.ts';

/**
 * Bytes charged for a filter or subscription without addresses and topics. The real size is 1 kB of heap, but another
 * limit bounds the number per client. With this value, 1,000 subscriptions with one address and four topics each fit
 * into 1 MiB.
 */
export const FILTER_BYTES = 256;
/** Memory charged for an address and its entry in the subscriber index. Measured: 275 bytes of heap. */
const ADDRESS_BYTES = 256;
/** Memory charged for a topic of a log filter. Measured: 97 bytes of heap. */
const TOPIC_BYTES = 96;
/** Number of index entries per address, because traces are indexed by sender and by recipient. */
const TRACE_SIDES = 2;

/** Bytes to charge for a log filter or a log subscription. */
export function logFilterBytes({ address = [], topics = [] }: Pick<LogFilter, 'address' | 'topics'>): number {
  return FILTER_BYTES + ADDRESS_BYTES * [address].flat().length + TOPIC_BYTES * topics.flat().length;
}

/** Bytes to charge for a trace subscription. */
export const traceFilterBytes = ({ addresses }: Pick<WantedTraces, 'addresses'>): number =>
  FILTER_BYTES + TRACE_SIDES * ADDRESS_BYTES * addresses.length;
