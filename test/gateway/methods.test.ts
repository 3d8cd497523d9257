import { expect, it } from 'vitest';
import { SERVED_METHODS } from '../../src/ethereum/gateway/index.ts';

it('there are 50 methods: those of the reference gateway, three more from the index, six that libraries need, five of filters, two of our own, and rpc.discover', () => {
  expect(new Set(SERVED_METHODS).size).toBe(SERVED_METHODS.length);
  expect(SERVED_METHODS).toHaveLength(50);
});
