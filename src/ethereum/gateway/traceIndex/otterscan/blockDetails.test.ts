import { expect, it } from 'vitest';
import type { CallContext, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { otsBlockDetailsByHash, otsBlockTransactions } from './blockDetails.ts';

const CONTEXT = { mayStream: false } as CallContext; // the handlers use nothing else
const BLOCK_HASH = `0x${'ab'.repeat(32)}`;
const TX_HASH = `0x${'cd'.repeat(32)}`;

it('a node may return hashes with upper-case digits, and another node their receipts with lower-case ones', async () => {
  const upper = (hash: string): string => `0x${hash.slice(2).toUpperCase()}`;
  const block = { number: '0x1', hash: upper(BLOCK_HASH), difficulty: '0x0' };
  const receipt = {
    transactionHash: TX_HASH,
    blockHash: BLOCK_HASH,
    gasUsed: '0x5208',
    effectiveGasPrice: '0x2',
  };
  const asked: unknown[] = [];
  const call: NodeCall = (method, [named, fullTransactions]) => {
    if (method.startsWith('eth_getBlockBy')) {
      const transactions = [fullTransactions === true ? { hash: upper(TX_HASH) } : upper(TX_HASH)];
      return Buffer.from(JSON.stringify({ ...block, transactions }));
    }
    asked.push(named);
    return Buffer.from(JSON.stringify(method === 'eth_getBlockReceipts' ? [receipt] : receipt));
  };
  const services = {} as IndexServices; // not used under proof of stake
  const page = await otsBlockTransactions(services, call)(['0x1', '0x0', '0x5'], CONTEXT);
  expect(JSON.parse(String(page)).receipts).toHaveLength(1);
  const details = await otsBlockDetailsByHash(services, call)([BLOCK_HASH], CONTEXT);
  expect(JSON.parse(String(details)).totalFees).toBe('0xa410');
  expect(asked).toEqual([TX_HASH, { blockHash: BLOCK_HASH }]);
});
