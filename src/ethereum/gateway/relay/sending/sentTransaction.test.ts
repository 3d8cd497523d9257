import { Transaction, Wallet } from 'ethers';
import { RLP } from 'micro-eth-signer/core/rlp.js';
import { expect, it } from 'vitest';
import { isAlreadyKnown, senderOf, sentTransactionHash } from './sentTransaction.ts';

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
    type: 3,
    chainId: 1,
    to: `0x${'11'.repeat(20)}`,
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 2n,
    gasLimit: 21_000,
    maxFeePerBlobGas: 9n,
    blobVersionedHashes: [`0x01${'ef'.repeat(31)}`],
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

it('the sender is recovered from transactions of every type, and from no others', async () => {
  const wallet = new Wallet(`0x${'42'.repeat(32)}`);
  const common = { nonce: 7, to: `0x${'11'.repeat(20)}`, gasLimit: 21_000, value: 5n, data: '0x00ff' };
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n };
  const authorization = wallet.authorizeSync({ address: common.to, chainId: 1, nonce: 1 });
  const blobs = { maxFeePerBlobGas: 9n, blobVersionedHashes: [`0x01${'ef'.repeat(31)}`] };
  for (const chainId of [1, 137, 42_161, 1_313_161_554])
    for (const fields of [
      { type: 0, gasPrice: 3n },
      { type: 1, gasPrice: 3n, accessList: [{ address: common.to, storageKeys: [] }] },
      { type: 2, ...fees },
      { type: 3, ...fees, ...blobs },
      { type: 4, ...fees, authorizationList: [authorization] },
    ]) {
      const raw = await wallet.signTransaction({ ...common, ...fields, chainId });
      expect(senderOf(raw), `type ${fields.type}`).toBe(wallet.address.toLowerCase());
    }
  const unprotected = Transaction.from({ ...common, type: 0, gasPrice: 3n });
  unprotected.signature = wallet.signingKey.sign(unprotected.unsignedHash);
  expect(senderOf(unprotected.serialized)).toBe(wallet.address.toLowerCase());
  for (const raw of [
    '0x',
    '0x02',
    '0xc0',
    '0x02c0',
    '0x12',
    `0x${'ff'.repeat(40)}`,
    '0xc3808080',
    '0x02c3808080',
  ])
    expect(senderOf(raw)).toBeUndefined();
});
