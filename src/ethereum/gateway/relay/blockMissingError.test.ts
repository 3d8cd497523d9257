import { describe, expect, it } from 'vitest';
import { isBlockMissingError } from './blockMissingError.ts';

describe('an error means that the node lacks the block', () => {
  it.each([
    ['geth, by number', -32_000, 'header not found'],
    ['geth, by hash', -32_000, 'header for hash not found'],
    ['geth, by hash, on another fork now', -32_000, 'hash is not currently canonical'],
    ['anvil, by number', -32_602, 'BlockOutOfRangeError: block height is 12 but requested was 13'],
    ['anvil, by hash; EIP-1898', -32_001, 'Resource not found'],
    ['besu', -32_000, 'Unknown block'],
    ['nethermind', -32_001, '0x12 could not be found'],
    ['reth', -32_001, 'block not found: hash 0x12'],
  ])('%s', (_client, code, message) => {
    expect(isBlockMissingError({ code, message })).toBe(true);
  });

  it('is not a missing block if a contract reverts with such a message, or for other errors', () => {
    expect(isBlockMissingError({ code: 3, message: 'execution reverted: block not found' })).toBe(false);
    expect(isBlockMissingError({ code: -32_000, message: 'insufficient funds for transfer' })).toBe(false);
  });
});
