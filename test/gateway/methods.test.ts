import { expect, it } from 'vitest';
import { SERVED_METHODS } from '../../src/ethereum/gateway/index.ts';

it('there are 43 methods: those of the reference gateway, three more from the index, six that libraries need, and rpc.discover', () => {
  expect(new Set(SERVED_METHODS).size).toBe(SERVED_METHODS.length);
  expect(SERVED_METHODS).toHaveLength(43);
});
