import type { MethodRow } from './row.ts';
import { DEBUG_ROWS } from './rows/debugRows.ts';
import { DISCOVER_ROW } from './rows/discoverRow.ts';
import { FILTER_ROWS } from './rows/filterRows.ts';
import { INDEXED_ROWS } from './rows/indexedRows.ts';
import { OTTERSCAN_ROWS } from './rows/otterscanRows.ts';
import { RELAYED_ROWS } from './rows/relayedRows.ts';

/**
 * All methods that the gateway can serve. Allow-list, handlers, checks, caching, docs and tests are derived from it.
 */
export const METHODS: readonly MethodRow[] = [
  DISCOVER_ROW,
  ...INDEXED_ROWS,
  ...OTTERSCAN_ROWS,
  ...RELAYED_ROWS,
  ...DEBUG_ROWS,
  ...FILTER_ROWS,
];

export const SERVED_METHODS: readonly string[] = METHODS.map(({ name }) => name);
