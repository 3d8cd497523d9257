import { expect, it } from 'vitest';
import { SERVED_METHODS } from '../../src/ethereum/gateway/index.ts';

it('SERVED_METHODS lists 69 distinct methods', () => {
  expect(new Set(SERVED_METHODS).size).toBe(SERVED_METHODS.length);
  expect(SERVED_METHODS).toHaveLength(69);
});
