import { Transaction, Wallet } from 'ethers';
import { RLP } from 'micro-eth-signer/core/rlp.js';
import { expect, it } from 'vitest';
import { isAlreadyKnown, sentTransactionHash } from './sentTransaction.ts';

it.each([
  'already known',
  'AlreadyKnown',
  'Known transaction',
  'known transaction: 0x12',
  'transaction already imported',
])('"%s" means that the node already has the transaction', (message) =>
  expect(isAlreadyKnown(message)).toBe(true),
);

it.each(['nonce too low', 'replacement transaction underpriced', 'unknown transaction type', 'is not known'])(
  '"%s" does not mean that the node already has the transaction',
  (message) => expect(isAlreadyKnown(message)).toBe(false),
);

it('the hash of a transaction with blobs does not cover the blobs', async () => {
  const raw = await new Wallet(`0x${'42'.repeat(32)}`).signTransaction({
    ...{ type: 3, chainId: 1, to: `0x${'11'.repeat(20)}`, maxFeePerGas: 3n, maxPriorityFeePerGas: 2n },
    ...{ gasLimit: 21_000, maxFeePerBlobGas: 9n, blobVersionedHashes: [`0x01${'ef'.repeat(31)}`] },
  });
  const { hash } = Transaction.from(raw);
  const signed = RLP.decode(Buffer.from(raw.slice(4), 'hex'));
  const sent = Buffer.from(
    RLP.encode([signed, [new Uint8Array(4096)], [new Uint8Array(48)], [new Uint8Array(48)]]),
  );
  expect(sentTransactionHash(raw)).toBe(hash);
  expect(sentTransactionHash(`0x03${sent.toString('hex')}`)).toBe(hash);
  expect(sentTransactionHash('0x03ff')).toMatch(/^0x[0-9a-f]{64}$/);
});
