import { expect, it } from 'vitest';
import type { NodeClient } from '../client/nodeClient.ts';
import { askChain } from './nodeChain.ts';

const client = (chainId: unknown): NodeClient =>
  ({ host: 'node', batch: () => Promise.resolve([{ result: chainId }]) }) as unknown as NodeClient; // nothing else is used

it('a chain id up to 2^53 - 1 is accepted, with digits in either case', async () => {
  for (const chainId of ['0x1', '0x1fffffffffffff', '0x1FFFFFFFFFFFFF'])
    expect(await askChain(client(chainId))).toEqual({ chainId: Number(chainId), genesisHash: undefined });
});

it('the error for another chain id names the value and what is allowed', async () => {
  for (const chainId of ['0x20000000000000', '0xffffffffffffffff', '1', 1, null])
    await expect(askChain(client(chainId))).rejects.toThrow(
      `node returned the chain id ${chainId}; it must be a 0x string from 0x0 to 0x1fffffffffffff`,
    );
  const long = `0x${'f'.repeat(1000)}`;
  await expect(askChain(client(long))).rejects.toThrow(`the chain id ${long.slice(0, 66)};`);
});
