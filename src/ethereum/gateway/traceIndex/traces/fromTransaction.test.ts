import { expect, it } from 'vitest';
import { type Hash, IndexUnavailableError } from '../../../traces/index.ts';
import { findTransaction } from './fromTransaction.ts';
import type { IndexServices } from './indexServices.ts';

class Unproven extends IndexUnavailableError {
  override readonly isUnproven = true;
}
const wanted = { hash: `0x${'ab'.repeat(32)}` as Hash, caller: {} };
/** Services with nodes that do not know the transaction. */
const services = {
  store: {},
  indexer: { lastHeads: undefined },
  finder: { transactionBlock: async () => undefined },
} as object as IndexServices; // no other member is used

it('a transaction that neither the index has nor a node knows is null', async () => {
  expect(await findTransaction(services, wanted, async () => undefined)).toBeNull();
});

it('a transaction that the index does not prove, and that no node knows, is an error and not null', async () => {
  const read = async () => {
    throw new Unproven('rows are missing');
  };
  await expect(findTransaction(services, wanted, read)).rejects.toThrow('rows are missing');
});

it('a transaction whose block a node returned is read when the scheduler continues the client', async () => {
  const steps: string[] = [];
  const finder = { transactionBlock: async () => steps.push('found') };
  const caller = { nextTurn: async () => void steps.push('turn') };
  const read = () => (steps.push('read') > 1 ? 'known' : undefined);
  const found = await findTransaction(
    { ...services, finder } as object as IndexServices,
    { ...wanted, caller },
    read,
  );
  expect(found).toBe('known');
  expect(steps).toEqual(['read', 'found', 'turn', 'read']);
});
