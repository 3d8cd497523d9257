import { describe, expect, it } from 'vitest';
import { block, minedBlock, stateBlock, transaction } from './paramTypes.ts';

describe('a transaction object', () => {
  it('loses the members with which web3.js 4 signs it', () => {
    const web3js = {
      value: '0x7',
      chain: 'mainnet',
      hardfork: 'london',
      networkId: '0x7a69',
      common: { customChain: { name: 'custom-network', networkId: 31337, chainId: 31337 } },
    };
    expect(transaction.read(web3js, 'params[0]')).toEqual({ value: '0x7' });
  });

  it('is rejected if it has other unknown members', () => {
    expect(() => transaction.read({ Value: '0x7', chain: 'mainnet' }, 'params[0]')).toThrow(
      /^params\[0\] has unknown members: "Value"; known are from, to, gas, [^;]*, authorizationList$/,
    );
  });
});

it.each([block, minedBlock, stateBlock])(
  'a block number above 2^53 - 1 is rejected with the maximum',
  (type) => {
    expect(() => type.read(`0x${'f'.repeat(16)}`, 'params[0]')).toThrow(
      'a block number from 0 to 2^53 - 1 (',
    );
  },
);
