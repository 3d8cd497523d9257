import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../nodes/index.ts';
import { RELAYED_ROWS } from '../methods/rows/relayedRows.ts';
import { resolveTags } from './resolveTags.ts';

const HEADS = { latest: { number: 16 }, finalized: 5 };

function resolved(method: string, params: readonly unknown[], parts: object = {}) {
  const row = RELAYED_ROWS.find(({ name }) => name === method);
  if (row === undefined) throw new Error(`${method} is not in the table`);
  const pool = { isSingle: false, heads: HEADS, nodes: [], ...parts } as unknown as NodePool;
  return resolveTags(row, params, { pool, logsBlocks: 800 });
}

describe('the tags of a relayed call', () => {
  it.each([
    ['latest', '0x10'],
    ['finalized', '0x5'],
    ['earliest', '0x0'],
    ['pending', 'pending'],
    ['0x7', '0x7'],
  ])('become block numbers: %s is sent as %s', (tag, sent) => {
    expect(resolved('eth_call', [{}, tag])).toEqual([{}, sent]);
  });

  it('are sent unchanged to a single node, except in a log range', async () => {
    expect(resolved('eth_call', [{}, 'latest'], { isSingle: true })).toEqual([{}, 'latest']);
    const logs = await resolved('eth_getLogs', [{ fromBlock: 'earliest' }], { isSingle: true });
    expect(logs).toEqual([{ fromBlock: '0x0', toBlock: '0x10' }]);
    const numbers = [{ fromBlock: '0x1', toBlock: '0x2' }];
    expect(resolved('eth_getLogs', numbers)).toBe(numbers);
  });

  it('wait for the first head, and are rejected if no node reports a block for them', async () => {
    const parts = { heads: {} as object, waitForRecovery: async () => Object.assign(parts.heads, HEADS) };
    expect(await resolved('eth_call', [{}, 'latest'], parts)).toEqual([{}, '0x10']);
    expect(() => resolved('eth_call', [{}, 'safe'])).toThrow('no node reports a safe block');
  });
});
