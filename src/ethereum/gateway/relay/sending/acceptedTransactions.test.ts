import { expect, it } from 'vitest';
import { AcceptedTransactions } from './acceptedTransactions.ts';

const transaction = (i: number, node = 0) => ({ hash: `hash ${i}`, sender: `sender ${i}`, node });

it('a transaction is found by hash and sender for 60 seconds, and each transaction has another serial', () => {
  let nowMs = 0;
  const accepted = new AcceptedTransactions(() => nowMs);
  accepted.add(transaction(1, 1));
  accepted.add({ hash: 'hash 2', sender: 'sender 1', node: 0 });
  accepted.add({ hash: 'hash 3', sender: undefined, node: 1 });
  expect(accepted.get('hash 1')?.node).toBe(1);
  expect(accepted.get('sender 1')?.node).toBe(0);
  expect(accepted.get('hash 1')?.serial).not.toBe(accepted.get('sender 1')?.serial);
  expect(accepted.get('hash 4')).toBeUndefined();
  nowMs = 59_999;
  expect(accepted.get('hash 3')?.node).toBe(1);
  nowMs = 60_000;
  expect(accepted.get('hash 3')).toBeUndefined();
  accepted.add(transaction(5));
  expect(accepted.size).toBe(2);
});

it('at most 20,000 hashes and senders are stored, and the oldest are evicted first', () => {
  const accepted = new AcceptedTransactions(() => 0);
  for (let i = 0; i < 15_000; i++) accepted.add(transaction(i));
  expect(accepted.size).toBe(20_000);
  expect(accepted.get('hash 4999')).toBeUndefined();
  expect(accepted.get('hash 5000')).toBeDefined();
  expect(accepted.get('sender 14999')).toBeDefined();
});
