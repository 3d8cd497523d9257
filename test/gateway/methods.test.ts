import { expect, it } from 'vitest';
import { SERVED_METHODS } from '../../src/ethereum/gateway/index.ts';

it('there are 36 methods: those of the reference gateway, and three more from the index', () => {
  expect(new Set(SERVED_METHODS).size).toBe(SERVED_METHODS.length);
  expect(SERVED_METHODS).toHaveLength(36);
});
