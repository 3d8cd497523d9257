import { describe, expect, it } from 'vitest';
import { NetworkHeads } from '../../nodes/index.ts';
import type { Hash } from '../../traces/index.ts';
import { paramsReader } from '../methods/readParams.ts';
import { RELAYED_ROWS } from '../methods/rows/relayedRows.ts';
import { chainStateOf } from './chainStateOf.ts';

const TO = { to: `0x${'1'.repeat(40)}` };
const HASH = `0x${'2'.repeat(64)}`;

const block = (number: number, fork = '') => ({
  number,
  hash: `0x${number}${fork}` as Hash, // hashes are only compared, so any text will do
  parentHash: `0x${number - 1}` as Hash,
});

/** Returns heads with this latest block and a final block, by default 90. */
function headsAt(latest: ReturnType<typeof block>, finalized = 90): NetworkHeads {
  const heads = new NetworkHeads(() => undefined);
  heads.update([{ node: 'a', heads: { latest, finalized: block(finalized) } }], 0);
  return heads;
}

function stateOf(heads: NetworkHeads, method: string, ...params: unknown[]): string | undefined {
  const row = RELAYED_ROWS.find(({ name }) => name === method);
  if (row === undefined) throw new Error(`${method} is not in the table`);
  return chainStateOf(row, paramsReader(row.params)(params), heads);
}

const before = headsAt(block(100));
const after = headsAt(block(101));
const replaced = headsAt(block(100, 'x'));
const hex = (number: number): string => `0x${number.toString(16)}`;

describe('the chain state of a result', () => {
  it.each<[string, string, ...unknown[]]>([
    ['a final block', 'eth_call', TO, hex(90)],
    ['a final block, for logs', 'eth_getLogs', { fromBlock: '0x1', toBlock: hex(90) }],
    ['a block named by its hash (EIP-1898)', 'eth_call', TO, { blockHash: HASH }],
    ['logs of a block named by its hash', 'eth_getLogs', { blockHash: HASH }],
    ['a block by its hash', 'eth_getBlockByHash', HASH, true],
    ['nothing that changes', 'eth_chainId'],
  ])('is the same under every head for %s', (_what, method, ...params) => {
    const state = stateOf(before, method, ...params);
    expect(state).toBeDefined();
    expect(stateOf(after, method, ...params)).toBe(state);
    expect(stateOf(replaced, method, ...params)).toBe(state);
  });

  it.each<[string, string, ...unknown[]]>([
    ['the head by its number', 'eth_call', TO, hex(100)],
    ['logs up to the head', 'eth_getLogs', { fromBlock: '0x1', toBlock: hex(100) }],
  ])('is the same under a later head, and another after a reorg, for %s', (_what, method, ...params) => {
    const state = stateOf(before, method, ...params);
    expect(state).toBeDefined();
    expect(stateOf(after, method, ...params)).toBe(state);
    expect(stateOf(replaced, method, ...params)).not.toBe(state);
  });

  it.each<[string, string, ...unknown[]]>([
    ['latest', 'eth_call', TO, 'latest'],
    ['no block', 'eth_call', TO],
    ['finalized', 'eth_call', TO, 'finalized'],
    ['a block past the head', 'eth_call', TO, hex(200)],
    ['a receipt', 'eth_getTransactionReceipt', HASH],
  ])('is another under every head for %s', (_what, method, ...params) => {
    const states = [before, after, replaced].map((heads) => stateOf(heads, method, ...params));
    expect(states).not.toContain(undefined);
    expect(new Set(states).size).toBe(3);
  });

  it('is another for a tag if the final block advances under the same head', () => {
    const later = headsAt(block(100), 95);
    expect(stateOf(later, 'eth_call', TO, 'finalized')).not.toBe(
      stateOf(before, 'eth_call', TO, 'finalized'),
    );
  });

  it.each<[string, ...unknown[]]>([['eth_call', TO, 'pending'], ['eth_syncing'], ['eth_blockNumber']])(
    'is unknown for %s',
    (method, ...params) => {
      expect(stateOf(before, method, ...params)).toBeUndefined();
    },
  );
});
