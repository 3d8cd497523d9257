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
/** Number of entries in the subscriber index per address of a trace subscription: as sender and as recipient. */
const TRACE_SIDES = 2;

/** Returns the bytes to charge for a log filter or a log subscription. */
export function logFilterBytes({ address = [], topics = [] }: Pick<LogFilter, 'address' | 'topics'>): number {
  return FILTER_BYTES + ADDRESS_BYTES * [address].flat().length + TOPIC_BYTES * topics.flat().length;
}

/** Returns the bytes to charge for a trace subscription. */
export const traceFilterBytes = ({ addresses }: Pick<WantedTraces, 'addresses'>): number =>
  FILTER_BYTES + TRACE_SIDES * ADDRESS_BYTES * addresses.length;
