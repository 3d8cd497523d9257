import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import { extraMethodError, extraRow } from './extraRows.ts';

const SERVED = ['eth_call', 'trace_filter'];

describe('an extra method', () => {
  it.each([
    'txpool_status',
    'eth_coinbase',
    'net_peerCount',
    'parity_pendingTransactions',
    'ots_getHeaderByNumber',
  ])('%s is relayed', (name) => expect(extraMethodError(name, SERVED)).toBeUndefined());

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
    // Nodes may ignore the case of method names.
    'Debug_traceCall',
    'ETH_SIGN',
    'eth_sendtransaction',
  ])('%s never is', (name) => expect(extraMethodError(name, SERVED)).toBe('is never relayed'));

  it.each([
    ['eth_call', 'is served already'],
    ['rpc_modules', 'is a method name of the gateway itself'],
    ['rpc.discover', 'is not a method name'],
    ['floodgate_addressTraces', 'is a method name of the gateway itself'],
    ['eth_subscribe', 'needs a permanent connection to a node'],
    ['eth', 'is not a method name'],
    ['', 'is not a method name'],
    ['eth_x y', 'is not a method name'],
    ['eth_x"', 'is not a method name'],
    [`eth_${'x'.repeat(61)}`, 'is not a method name'],
  ])('%j %s', (name, reason) => expect(extraMethodError(name, SERVED)).toBe(reason));

  it('accepts parameters of any type, nested at most 32 deep', () => {
    const { checkLimits } = extraRow('txpool_status');
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(() => checkLimits?.([nested(20), { a: 1 }, null], DEFAULT_LIMITS)).not.toThrow();
    expect(() => checkLimits?.([nested(40)], DEFAULT_LIMITS)).toThrow('at most 32 deep');
    expect(() =>
      checkLimits?.([JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))], DEFAULT_LIMITS),
    ).toThrow('at most 32');
  });
});
