import type { Address, Data } from '../../../src/ethereum/traces/index.ts';
import { ACCOUNTS } from '../../support/anvil.ts';
import type { GethOptions } from '../../support/geth.ts';
import { program } from '../../support/traffic/actor.ts';
import { ACTORS, DELEGATOR, precompile, SENDERS } from '../../support/traffic/cast.ts';
import { randomTransactions } from '../../support/traffic/improvise.ts';
import type { Random } from '../../support/traffic/random.ts';
import type { Delegation, Transaction } from '../../support/traffic/transaction.ts';

/** Accounts that sign authorizations. The first one also sends transactions. */
const AUTHORITIES = [SENDERS[0], DELEGATOR, ...ACCOUNTS.slice(0, 4)];
/** Number of addresses without code or balance, so that some of them are used twice. */
const STRANGERS = 60;
/** Authorizes an account to have no code. */
const NO_CODE = `0x${'00'.repeat(20)}` as Address; // 20 bytes
/** Maximum gas limit before Amsterdam (EIP-7825). Gas above it pays for state. */
const MAX_EXECUTION_GAS = 16_777_216;

/** Returns the random transactions of one block. Two thirds of them have unusual gas, data or authorizations. */
export function gasTransactions(random: Random, fork: GethOptions['fork']): readonly Transaction[] {
  const ordinary = randomTransactions(random);
  return [...ordinary, ...[...ordinary, ...ordinary].map(() => unusual(random, fork))];
}

function unusual(random: Random, fork: GethOptions['fork']): Transaction {
  const delegations = random.chance(0.4) ? someDelegations(random) : [];
  const isCreation = delegations.length === 0 && random.chance(0.1);
  return {
    about: 'unusual gas',
    from: random.pick(SENDERS),
    ...(!isCreation && { to: someRecipient(random) }),
    type: delegations.length > 0 ? 'eip7702' : random.pick(['eip2930', 'eip1559']),
    value: random.chance(0.5) ? 0n : BigInt(random.below(100)),
    data: someData(random),
    gas: someGas(random, fork),
    accessList: random.chance(0.2) ? [someEntry(random), someEntry(random)] : [],
    delegations,
  };
}

function someRecipient(random: Random): Address {
  const strangers = Array.from({ length: 3 }, () => stranger(random));
  const accounts = [...SENDERS, ...AUTHORITIES].map(({ address }) => address);
  return random.pick([random.pick(strangers), random.pick(accounts), somePrecompile(random), ...ACTORS]);
}

const stranger = (random: Random): Address =>
  `0xf2e5${random.below(STRANGERS).toString(16).padStart(36, '0')}` as Address; // 20 bytes of hex

const somePrecompile = (random: Random): Address =>
  precompile(random.pick([1, 2, 3, 4, 5, 6, 8, 9, 11, 256]));

/** Much data, so that the minimum gas applies; or a program that changes storage, which may refund gas. */
function someData(random: Random): Data {
  const store = () =>
    ({ kind: 'store', target: random.pick(ACTORS), value: BigInt(random.below(2)) }) as const;
  return random.pick([
    () => '0x' as Data,
    () => `0x${'00'.repeat(random.below(5_000))}` as Data, // whole bytes
    () => `0x${random.hex(random.below(1_000))}` as Data, // whole bytes
    () => program(store(), store(), store(), ...(random.chance(0.2) ? [{ kind: 'revert' } as const] : [])),
  ])();
}

/** Often less than the transaction needs, in all phases of its execution. */
function someGas(random: Random, fork: GethOptions['fork']): number {
  return random.pick([
    21_000 + random.below(30_000),
    30_000 + random.below(300_000),
    1_000_000,
    fork === 'amsterdam' ? MAX_EXECUTION_GAS + random.below(300_000) : MAX_EXECUTION_GAS,
  ]);
}

const someEntry = (random: Random) => ({
  address: someRecipient(random),
  storageKeys: Array.from({ length: random.below(3) }, () => `0x${random.hex(32)}`),
});

/** One to three authorizations, some of which are not valid. */
function someDelegations(random: Random): readonly Delegation[] {
  return Array.from({ length: 1 + random.below(3) }, () => ({
    account: random.pick(AUTHORITIES),
    code: random.pick([stranger(random), somePrecompile(random), NO_CODE, ...ACTORS]),
    ...(random.chance(0.2) && { wrongNonce: 1_000_000n }),
  }));
}
