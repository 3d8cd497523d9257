import { expect, it } from 'vitest';
import { RELAYED_ROWS } from '../methods/rows/relayedRows.ts';
import { classifyResponse } from './classifyResponse.ts';

function classOf(code: number, message: string): unknown {
  const row = RELAYED_ROWS.find(({ name }) => name === 'eth_call');
  if (row === undefined) throw new Error('eth_call is not in the table');
  const context = { row, params: [], chainId: undefined, expectsBlock: true };
  return classifyResponse(context, { kind: 'error', code, message, data: undefined });
}

it.each([
  [3, 'execution reverted: try again', 'good'],
  [-32602, 'invalid argument: rate limit', 'good'],
  [-32600, 'Must be authenticated!', 'elsewhere'],
  [-32000, 'insufficient funds', 'good'],
  [4, 'try again', 'elsewhere'],
  [-32000, 'missing trie node', 'elsewhere'],
  [-32601, 'unknown method', 'elsewhere'],
  [-32603, 'internal error', 'elsewhere'],
  [-32005, 'limit exceeded', 'elsewhere'],
  [429, 'Your app has exceeded its compute units per second capacity', 'elsewhere'],
])('the error %i "%s" of a node is classified as %s', (code, message, expected) => {
  expect(classOf(code, message)).toBe(expected);
});
