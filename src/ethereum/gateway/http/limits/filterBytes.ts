import type { LogFilter } from '../../methods/logFilter.ts';
import type { WantedTraces } from '../../traceIndex/history/params.ts';

/**
 * Bytes charged for a filter or subscription without addresses and topics. The real size is 1 kB of heap, but another
 * limit bounds the number per client. With this value, 1,000 subscriptions with one address and four topics each fit
 * into 1 MiB.
 */
export const FILTER_BYTES = 256;
/** Memory charged for an address or a topic. Measured: 109 bytes of heap. */
const VALUE_BYTES = 96;
/** Memory charged for an entry in the subscriber index. It has the values of one list. Measured: 222 bytes of heap. */
const INDEX_BYTES = 192;
/** Number of values per address of a trace subscription: as sender and as recipient. */
const TRACE_SIDES = 2;

/** Returns the bytes to charge for a log filter or a log subscription. */
export function logFilterBytes({ address = [], topics = [] }: Pick<LogFilter, 'address' | 'topics'>): number {
  return bytesOf([address, ...topics].map((choice) => [choice].flat().length));
}

/** Returns the bytes to charge for a trace subscription. */
export const traceFilterBytes = ({ addresses }: Pick<WantedTraces, 'addresses'>): number =>
  bytesOf([TRACE_SIDES * addresses.length]);

const bytesOf = (lengths: readonly number[]): number =>
  FILTER_BYTES +
  VALUE_BYTES * lengths.reduce((sum, length) => sum + length) +
  INDEX_BYTES * Math.max(...lengths);
