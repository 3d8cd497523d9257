import { liveLogFilter } from '../logFilter.ts';
import { logsLimitText } from '../logRange.ts';
import { paramType } from '../paramType.ts';
import { hexText } from '../paramTypes.ts';
import type { FilterRow, Param } from '../row.ts';

const id: Param = {
  name: 'id',
  kind: paramType(
    'the id of a filter: 0x and hex digits',
    (value) => (typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : undefined),
    hexText('+'),
  ),
};
const filterId = hexText('+');

export const FILTER_ROWS: readonly FilterRow[] = [
  {
    name: 'eth_newFilter',
    summary: 'Creates a filter for the logs of new blocks, to be polled.',
    params: [{ name: 'filter', kind: liveLogFilter, optional: true, defaultValue: {} }],
    limits: 'expires after 5 minutes without a poll',
    scope: { of: 'filters' },
    resultSchema: filterId,
    isOnce: true,
    isFilter: true,
  },
  {
    name: 'eth_newBlockFilter',
    summary: 'Creates a filter for new blocks, to be polled.',
    params: [],
    limits: 'expires after 5 minutes without a poll',
    scope: { of: 'filters' },
    resultSchema: filterId,
    isOnce: true,
    isFilter: true,
  },
  {
    name: 'eth_getFilterChanges',
    summary: 'New logs or block hashes since the last poll.',
    params: [id],
    scope: { of: 'filters' },
    resultSchema: { type: 'array' },
    isOnce: true,
    isFilter: true,
  },
  {
    name: 'eth_getFilterLogs',
    summary: 'All logs in the range of a filter, as eth_getLogs returns them.',
    params: [id],
    limits: logsLimitText,
    scope: { of: 'filters' },
    resultSchema: { type: 'array' },
    isFilter: true,
  },
  {
    name: 'eth_uninstallFilter',
    summary: 'Removes a filter; `false` if it does not exist.',
    params: [id],
    scope: { of: 'filters' },
    resultSchema: { type: 'boolean' },
    isOnce: true,
    isFilter: true,
  },
];
