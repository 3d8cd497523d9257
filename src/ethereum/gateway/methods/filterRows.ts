import {
  filterChanges,
  filterLogs,
  newBlockFilter,
  newFilter,
  uninstallFilter,
} from '../filters/handlers.ts';
import { kind } from './kind.ts';
import { hexText } from './kinds.ts';
import { liveLogFilter } from './logFilter.ts';
import { MAX_LOG_BLOCKS } from './logRange.ts';
import type { FilterRow, Param } from './row.ts';

const id: Param = {
  name: 'id',
  kind: kind(
    'the id of a filter: 0x and hex digits',
    (value) => (typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : undefined),
    hexText('+'),
  ),
};
const filterId = hexText('+');

/** HTTP filters, for clients that have no WebSocket. */
export const FILTER_ROWS: readonly FilterRow[] = [
  {
    name: 'eth_newFilter',
    summary: 'A filter of the logs of new blocks, to be asked again and again.',
    params: [{ name: 'filter', kind: liveLogFilter, optional: true, otherwise: {} }],
    limits: 'forgotten after 5 minutes without a question',
    scope: { of: 'filters' },
    resultSchema: filterId,
    isOnce: true,
    filterHandler: newFilter,
  },
  {
    name: 'eth_newBlockFilter',
    summary: 'A filter of new blocks, likewise.',
    params: [],
    limits: 'forgotten after 5 minutes without a question',
    scope: { of: 'filters' },
    resultSchema: filterId,
    isOnce: true,
    filterHandler: newBlockFilter,
  },
  {
    name: 'eth_getFilterChanges',
    summary: 'What came since it was asked last: logs, or hashes of blocks.',
    params: [id],
    scope: { of: 'filters' },
    resultSchema: { type: 'array' },
    isOnce: true,
    filterHandler: filterChanges,
  },
  {
    name: 'eth_getFilterLogs',
    summary: 'All logs of the range of a filter, as eth_getLogs gives them.',
    params: [id],
    limits: `at most ${MAX_LOG_BLOCKS} blocks, both ends counted`,
    scope: { of: 'filters' },
    resultSchema: { type: 'array' },
    filterHandler: filterLogs,
  },
  {
    name: 'eth_uninstallFilter',
    summary: 'Ends a filter; `false` where there is none.',
    params: [id],
    scope: { of: 'filters' },
    resultSchema: { type: 'boolean' },
    isOnce: true,
    filterHandler: uninstallFilter,
  },
];
