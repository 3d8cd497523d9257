import fc from 'fast-check';
import type { Address, Data, Hash, Quantity, Trace } from './trace.ts';

/** Random traces for property tests: every type, every optional member, and data from zero bytes to 64 KiB. */

const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/**
 * Returns random addresses. Half of them are one of six addresses, so that traces share addresses. The casts are
 * safe, because the texts have the right form by construction.
 */
const anyAddress = (): fc.Arbitrary<Address> =>
  fc.oneof(
    fc.nat(5).map((n) => `0x${n.toString(16).padStart(40, '0')}` as Address),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => hexOf(bytes) as Address),
  );

const anyHash = (): fc.Arbitrary<Hash> =>
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => hexOf(bytes) as Hash);

const anyQuantity = (): fc.Arbitrary<Quantity> =>
  fc
    .oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))
    .map((n) => `0x${n.toString(16)}` as Quantity);

const anyData = (): fc.Arbitrary<Data> =>
  fc.oneof(
    fc.constant('0x' as Data),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => hexOf(bytes) as Data),
    fc.nat(3000).map((length) => hexOf(new Uint8Array(length)) as Data),
    // Only two long values, so that a block repeats one of them often enough for a data chunk.
    fc.constantFrom(65_536, 65_537).map((bytes) => hexOf(new Uint8Array(bytes)) as Data),
  );

const anyError = (): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom('Reverted', 'Out of gas'), fc.string({ unit: 'grapheme', maxLength: 30 }));

const optional = <K extends string, V>(key: K, value: fc.Arbitrary<V>): fc.Arbitrary<{ [P in K]?: V }> =>
  fc.option(value, { nil: undefined }).map((v) => (v === undefined ? {} : { [key]: v })) as never; // exact optional keys

/** Derives the transaction position from the hash, so that all traces of one transaction have the same position. */
const inTransaction = () =>
  fc.record(transactionMembers).map((members) => ({
    ...members,
    transactionPosition: Number.parseInt(members.transactionHash.slice(-3), 16),
  }));

const transactionMembers = {
  blockHash: anyHash(),
  blockNumber: fc.nat(),
  subtraces: fc.nat(500),
  traceAddress: fc.array(fc.oneof(fc.nat(3), fc.nat(100_000)), { maxLength: 12 }),
  transactionHash: anyHash(),
};

const outcome = <R>(result: fc.Arbitrary<R>) =>
  fc.oneof(
    fc.record({ result }),
    fc.record({ error: anyError(), result: fc.constant(null) }),
    fc.record({ error: anyError(), result }),
  );

const anyCall = () =>
  fc
    .tuple(
      fc.record({
        callType: fc.constantFrom('call', 'callcode', 'delegatecall', 'staticcall'),
        from: anyAddress(),
        gas: anyQuantity(),
        input: anyData(),
        to: anyAddress(),
        value: anyQuantity(),
      }),
      outcome(fc.record({ gasUsed: anyQuantity(), output: anyData() })),
      inTransaction(),
    )
    .map(([action, end, place]) => inOrder({ action, ...end, ...place, type: 'call' }));

const anyCreate = () =>
  fc
    .tuple(
      optional('creationMethod', fc.constantFrom('create', 'create2')),
      fc.record({ from: anyAddress(), gas: anyQuantity(), init: anyData(), value: anyQuantity() }),
      outcome(
        fc.oneof(
          fc.record({ address: anyAddress(), code: anyData(), gasUsed: anyQuantity() }),
          fc.record({ gasUsed: anyQuantity(), output: anyData() }),
        ),
      ),
      inTransaction(),
    )
    .map(([method, action, end, place]) =>
      inOrder({ action: { ...method, ...action }, ...end, ...place, type: 'create' }),
    );

const anySuicide = () =>
  fc
    .tuple(
      fc.record({ address: anyAddress(), balance: anyQuantity(), refundAddress: anyAddress() }),
      inTransaction(),
    )
    .map(([action, place]) => inOrder({ action, ...place, result: null, type: 'suicide' }));

const anyReward = () =>
  fc
    .record({
      author: anyAddress(),
      rewardType: fc.constantFrom('block', 'uncle', 'external'),
      value: anyQuantity(),
    })
    .map((action) =>
      inOrder({
        action,
        blockHash: '0x',
        blockNumber: 0,
        result: null,
        subtraces: 0,
        traceAddress: [],
        transactionHash: null,
        transactionPosition: null,
        type: 'reward',
      }),
    );

/** Sorts the members of a trace alphabetically, the order in which Floodgate serves them. */
function inOrder(members: object): Trace {
  const entries = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries) as unknown as Trace; // the generators above create complete traces only
}

export const anyTrace = (): fc.Arbitrary<Trace> =>
  fc.oneof(anyCall(), anyCreate(), anySuicide(), anyReward());
