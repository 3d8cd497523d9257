import { expect, it } from 'vitest';
import { smallBytesOf } from '../commonParams.ts';
import { extraRow } from './extraRows.ts';
import { RELAYED_ROWS } from './relayedRows.ts';

it('results with one value have at most 64 KiB, unless an error may contain data of a contract', () => {
  const values = RELAYED_ROWS.filter(({ result }) => ['quantity', 'boolean', 'text'].includes(result));
  const larger = values.filter((row) => smallBytesOf(row) !== 64 * 1024);
  expect(larger.map(({ name }) => name)).toEqual(['eth_estimateGas']);
});

it('eth_call, eth_estimateGas and methods that the operator added have no maximum of their own', () => {
  const rows = RELAYED_ROWS.filter(({ name }) => ['eth_call', 'eth_estimateGas'].includes(name));
  expect([...rows, extraRow('foo_bar')].map(smallBytesOf)).toEqual([Infinity, Infinity, Infinity]);
});
