import { describe, expect, it } from 'vitest';
import { extraRow, whyNotExtra } from './extraRows.ts';

const SERVED = ['eth_call', 'trace_filter'];

describe('an extra method', () => {
  it.each([
    'txpool_status',
    'eth_coinbase',
    'net_peerCount',
    'parity_pendingTransactions',
    'ots_getApiLevel',
  ])('%s is relayed', (name) => expect(whyNotExtra(name, SERVED)).toBeUndefined());

  it.each([
    'debug_traceCall',
    'admin_addPeer',
    'personal_unlockAccount',
    'engine_newPayloadV4',
    'miner_start',
    'eth_sign',
    'eth_signTransaction',
    'eth_signTypedData_v4',
    'eth_sendTransaction',
    'evm_revert',
    'anvil_impersonateAccount',
    'hardhat_setBalance',
    // A node may not look at capitals.
    'Debug_traceCall',
    'ETH_SIGN',
    'eth_sendtransaction',
  ])('%s never is', (name) => expect(whyNotExtra(name, SERVED)).toBe('is never relayed'));

  it.each([
    ['eth_call', 'is served already'],
    ['rpc_modules', 'is a name of the gateway itself'],
    ['rpc.discover', 'is no name of a method'],
    ['floodgate_addressTraces', 'is a name of the gateway itself'],
    ['eth_subscribe', 'needs a connection of its own to a node'],
    ['eth', 'is no name of a method'],
    ['', 'is no name of a method'],
    ['eth_x y', 'is no name of a method'],
    ['eth_x"', 'is no name of a method'],
    [`eth_${'x'.repeat(61)}`, 'is no name of a method'],
  ])('%j %s', (name, reason) => expect(whyNotExtra(name, SERVED)).toBe(reason));

  it('takes parameters of any kind, nested no deeper than a node could stand', () => {
    const { checkLimits } = extraRow('txpool_status');
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(() => checkLimits?.([nested(20), { a: 1 }, null])).not.toThrow();
    expect(() => checkLimits?.([nested(40)])).toThrow('at most 32 deep');
    expect(() => checkLimits?.([JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))])).toThrow(
      'at most 32',
    );
  });
});
