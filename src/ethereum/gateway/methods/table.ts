import { DISCOVER_ROW } from './discoverRow.ts';
import { FILTER_ROWS } from './filterRows.ts';
import { INDEXED_ROWS } from './indexedRows.ts';
import { RELAYED_ROWS } from './relayedRows.ts';
import type { MethodRow } from './row.ts';

/**
 * The methods that the gateway can serve. The allow-list, the reading of parameters, handlers, checks of nodes' answers, the
 * cache, the documentation and the tests all follow from this table: nothing else knows a method by its name.
 */
export const METHODS: readonly MethodRow[] = [DISCOVER_ROW, ...INDEXED_ROWS, ...RELAYED_ROWS, ...FILTER_ROWS];

/** Their names. */
export const SERVED_METHODS: readonly string[] = METHODS.map(({ name }) => name);
