import type { DescribingRow } from '../row.ts';

/** Row of `rpc.discover`, which OpenRPC clients call to list the served methods. */
export const DISCOVER_ROW: DescribingRow = {
  name: 'rpc.discover',
  summary: 'The served methods, as an OpenRPC document.',
  params: [],
  scope: { of: 'table' },
};
