import { describe, expect, it } from 'vitest';
import type { Address, Data, Hash, Quantity } from '../../index.ts';
import { blockRulesAt } from '../chains/blockRules.ts';
import { chainRulesOf } from '../chains/chainRulesOf.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';
import { chargeCalls, hiddenCharges, readRuntimeCharges } from './runtimeCharges.ts';

const SEPOLIA = chainRulesOf(11_155_111);
const AMSTERDAM_TIME = 1_791_294_816;
const HASH = `0x${'7a'.repeat(32)}` as Hash; // 32 bytes
const [SENDER, RECIPIENT] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [Address, Address];
const PRECOMPILE = `0x${'4'.padStart(40, '0')}` as Address; // 20 bytes
const ZEROS = (count: number) => `0x${'00'.repeat(count)}` as Data; // whole bytes

const SENT: BlockTransaction = {
  hash: HASH,
  from: SENDER,
  to: RECIPIENT,
  value: '0x0' as Quantity,
  gas: 500_000n,
  input: ZEROS(0),
  accessList: [],
  accessListKeys: 0,
  authorizations: [],
};
const WITH_VALUE = { value: '0x1' as Quantity };
const AUTHORIZED = { authorizations: [{}] };

interface Result {
  readonly gas: number;
  readonly failed?: boolean;
  readonly structLogs?: readonly { readonly gas: number }[];
}

function blockOf(
  members: Partial<BlockTransaction>,
  { result = { gas: 0 }, chargeTraces }: { result?: Result; chargeTraces?: readonly Result[] },
): FullBlock {
  const header = { number: 7, timestamp: AMSTERDAM_TIME };
  const withLogs = (one: Result) => ({ structLogs: [], failed: false, ...one });
  return {
    header,
    transactions: [{ ...SENT, ...members }],
    firstSteps: [{ result: withLogs(result) }],
    ...(chargeTraces !== undefined && { chargeTraces: new Map([[HASH, chargeTraces.map(withLogs)]]) }),
  } as unknown as FullBlock; // the members that are read
}

describe('the runtime charges of a transaction', () => {
  it.each<[string, Partial<BlockTransaction>, Result & { readonly onlyIfDelegated?: boolean }]>([
    ['code ran', AUTHORIZED, { gas: 15_000, structLogs: [{ gas: 1 }] }],
    ['it used more than the floor', {}, { gas: 18_000 }],
    ['it used the floor without data', {}, { gas: 15_000 }],
    ['a creation without code', { to: null }, { gas: 24_000 }],
    ['it failed', {}, { gas: 500_000, failed: true }],
    ['it has authorizations', AUTHORIZED, { gas: 31_816 }],
    ['it has authorizations, and failed', AUTHORIZED, { gas: 500_000, failed: true, onlyIfDelegated: false }],
    [
      'it has authorizations and gas for state',
      { ...AUTHORIZED, gas: 20_000_000n },
      { gas: 31_816, onlyIfDelegated: false },
    ],
    ['it called a precompiled contract', { to: PRECOMPILE }, { gas: 15_015 }],
    ['… with authorizations', { ...AUTHORIZED, to: PRECOMPILE }, { gas: 22_831, onlyIfDelegated: false }],
    ['… with value', { ...WITH_VALUE, to: PRECOMPILE }, { gas: 21_015 }],
    [
      '… with value, for much gas',
      { ...WITH_VALUE, to: PRECOMPILE },
      { gas: 21_000 + 183_600, onlyIfDelegated: false },
    ],
    ['it used the floor for data', { input: ZEROS(100) }, { gas: 21_400, onlyIfDelegated: true }],
    ['… with authorizations', { ...AUTHORIZED, input: ZEROS(900) }, { gas: 72_600, onlyIfDelegated: false }],
    [
      '… below the gas for an account',
      { ...WITH_VALUE, input: ZEROS(900) },
      { gas: 78_600, onlyIfDelegated: true },
    ],
    [
      '… above the gas for an account',
      { ...WITH_VALUE, input: ZEROS(4_000) },
      { gas: 277_000, onlyIfDelegated: false },
    ],
  ])('are hidden, or known: %s', (_, members, { onlyIfDelegated, ...result }) => {
    const hidden = hiddenCharges(blockOf(members, { result }), SEPOLIA);
    expect(hidden.map((one) => one.onlyIfDelegated)).toEqual(
      onlyIfDelegated === undefined ? [] : [onlyIfDelegated],
    );
  });

  const charges = (members: Partial<BlockTransaction>, chargeTraces: readonly Result[]) =>
    readRuntimeCharges(blockOf(members, { chargeTraces }), SEPOLIA).get(HASH);

  it('are the gas that a call used above its intrinsic gas, or that is missing before its first step', () => {
    expect(charges({}, [{ gas: 15_100 }])).toEqual([100n]);
    expect(charges({}, [{ gas: 90_000, structLogs: [{ gas: 250_000 - 3_000 }] }])).toEqual([3_000n]);
  });

  it('are separate for each authorization and the recipient', () => {
    const two = { ...WITH_VALUE, authorizations: [{}, {}] };
    const [one, both] = [7_816, 2 * 7_816];
    const results = [
      21_000 + one + 9_000,
      15_015 + one + 9_000,
      21_000 + both + 56_190,
      15_015 + both + 53_190,
    ];
    expect(
      charges(
        two,
        results.map((gas) => ({ gas })),
      ),
    ).toEqual([9_000n, 44_190n, 3_000n]);
  });

  it('contain no write of a recipient that the value has paid', () => {
    const own = { ...WITH_VALUE, ...AUTHORIZED };
    const results = [{ gas: 21_000 + 7_816 + 35_190 + 3_000 }, { gas: 15_015 + 7_816 + 44_190 }];
    expect(charges(own, results)).toEqual([35_190n, 3_000n]);
  });

  it('are read from calls without input, which run no precompiled contract', () => {
    const calls = chargeCalls(
      { ...SENT, ...AUTHORIZED, to: PRECOMPILE, input: ZEROS(900) },
      blockRulesAt(SEPOLIA, { number: 7, timestamp: AMSTERDAM_TIME }),
    );
    expect(calls.map(({ transaction }) => 'input' in transaction)).toEqual([false, false]);
    expect(calls[0]?.stateOverrides).toHaveProperty([PRECOMPILE, 'movePrecompileToAddress']);
  });

  it.each([
    ['a failed call without a step', { gas: 15_000, failed: true }],
    ['less gas than the intrinsic gas', { gas: 14_999 }],
  ])('are rejected for %s', (_, result) => {
    expect(() => charges({}, [result])).toThrow(TraceFormatError);
  });
});
