import { describe, expect, it } from 'vitest';
import { connect, startAnvil } from '../../src/devchain/index.ts';
import { checkBlockHash } from '../../src/ethereum/nodes/index.ts';

const ZERO_HASH = `0x${'0'.repeat(64)}`;
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** Mainnet's genesis block. */
const GENESIS = {
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: ZERO_HASH,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'0'.repeat(40)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x400000000',
  number: '0x0',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: ZERO_HASH,
  nonce: '0x0000000000000042',
};

describe('checkBlockHash', () => {
  it('accepts the genesis block of mainnet and rejects it if a member is changed', () => {
    expect(checkBlockHash(GENESIS)).toBe(true);
    expect(() => checkBlockHash({ ...GENESIS, gasUsed: '0x1' })).toThrow(/its header hashes to/);
  });

  it.each(['berlin', 'london', 'paris', 'shanghai', 'cancun', 'prague'])(
    'checks blocks of the %s fork',
    async (fork) => {
      const anvil = await startAnvil({ extraArgs: ['--hardfork', fork] });
      try {
        const node = connect(anvil.url);
        await node.call('evm_mine');
        const block = await node.call<Record<string, string>>('eth_getBlockByNumber', '0x1', false);
        expect(checkBlockHash(block)).toBe(true);
        expect(() => checkBlockHash({ ...block, stateRoot: EMPTY_ROOT })).toThrow(/its header hashes to/);
      } finally {
        await anvil.stop();
      }
    },
  );

  it('reports that a header of an unknown form was not checked', () => {
    const changed = { ...GENESIS, gasUsed: '0x1' };
    const { nonce, ...withoutNonce } = changed;
    const unknown = [{ ...changed, laterFork: '0x1' }, withoutNonce, { ...changed, nonce: 66 }];
    for (const header of [...unknown, { ...changed, withdrawalsRoot: EMPTY_ROOT }])
      expect(checkBlockHash(header)).toBe(false);
  });
});
