import type { DescribingRow } from './row.ts';

/** The method by which OpenRPC's clients ask what is served. */
export const DISCOVER_ROW: DescribingRow = {
  name: 'rpc.discover',
  summary: 'The methods that are served here, as an OpenRPC document.',
  params: [],
  scope: { of: 'table' },
};
