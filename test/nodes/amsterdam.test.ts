import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeClient, NodeTraces } from '../../src/ethereum/nodes/index.ts';
import type { Address, Data, Trace } from '../../src/ethereum/traces/index.ts';
import { startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { ACCOUNTS, connect, type Node } from '../support/anvil.ts';
import { type Geth, gethBinary, mined, NO_GETH, startGeth } from '../support/geth.ts';
import { sizeInSearch } from '../support/search.ts';
import type { Account } from '../support/traffic/accounts.ts';
import { ACTOR, constructing, program } from '../support/traffic/actor.ts';
import { ACTORS, DELEGATOR, DIRECTOR, precompile, SENDERS } from '../support/traffic/cast.ts';
import { randomTransactions } from '../support/traffic/improvise.ts';
import { createRandom } from '../support/traffic/random.ts';
import { type Nonces, sign, type Transaction } from '../support/traffic/transaction.ts';

/** A step in the complete log of a transaction. */
interface Step {
  readonly op: string;
  readonly depth: number;
  readonly gas: number;
  readonly gasCost: number;
  readonly refund?: number;
}

const CHAIN_ID = 31_337;
/** Gas for a new account (EIP-8037). */
const NEW_ACCOUNT = 183_600;
/** Gas for an authorization: intrinsic, and for the first write of its account. */
const AUTHORIZATION = 7_816;
const WRITE = 9_000;
/** Gas for a delegation of an account that had none (EIP-8037). */
const DELEGATION = 35_190;
const MAX_EXECUTION = 16_777_216;
const fresh = (number: number) => `0xf2e5${number.toString(16).padStart(36, '0')}` as Address; // 20 bytes of hex
const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}` as Data; // whole bytes
const from = DIRECTOR;

const [, warm, cold] = SENDERS;
const [first, second, third, fourth] = ACCOUNTS as readonly [Account, Account, Account, Account];
const authorizing = (account: Account) => ({
  from,
  type: 'eip7702' as const,
  gas: 300_000,
  delegations: [{ account, code: fresh(9) }],
});
/** Delegations to accounts without code. */
const DELEGATIONS: readonly Transaction[] = [
  { account: warm, code: precompile(4) },
  { account: cold, code: fresh(9) },
].map((one) => ({ about: 'a delegation', from, to: from.address, type: 'eip7702', delegations: [one] }));

/** Transactions that run no code, or fail before they do, with the gas of their root frames. */
const WITHOUT_STEPS: readonly (Transaction & { readonly rootGas: number })[] = [
  { about: 'a transfer', from, to: SENDERS[0].address, value: 1n, gas: 300_000, rootGas: 279_000 },
  { about: 'a new account', from, to: fresh(1), value: 1n, gas: 300_000, rootGas: 279_000 - NEW_ACCOUNT },
  { about: 'no gas for a new account', from, to: fresh(2), value: 1n, gas: 100_000, rootGas: 79_000 },
  {
    about: 'a new account, paid by gas for state',
    from,
    to: fresh(3),
    value: 1n,
    gas: MAX_EXECUTION + 100_000,
    rootGas: MAX_EXECUTION - 21_000 - (NEW_ACCOUNT - 100_000),
  },
  { about: 'an empty creation', from, gas: 300_000, rootGas: 300_000 - 24_000 - NEW_ACCOUNT },
  { about: 'a precompiled contract', from, to: precompile(3), gas: 300_000, rootGas: 285_000 },
  { about: 'data at the floor', from, to: precompile(4), data: zeros(900), gas: 300_000, rootGas: 281_400 },
  {
    about: 'data at the floor, for a delegation to a warm account without code',
    from,
    to: warm.address,
    data: zeros(900),
    gas: 300_000,
    rootGas: 281_400 - 100,
  },
  {
    about: 'data at the floor, for a delegation to a cold account without code',
    from,
    to: cold.address,
    data: zeros(900),
    gas: 300_000,
    rootGas: 281_400 - 3_000,
  },
  {
    about: 'a new account below the floor',
    from,
    to: fresh(5),
    value: 1n,
    data: zeros(4_000),
    gas: 400_000,
    rootGas: 363_000 - NEW_ACCOUNT,
  },
  {
    about: 'data at the floor, with an authorization',
    ...authorizing(first),
    to: first.address,
    data: zeros(1_200),
    rootGas: 280_200 - AUTHORIZATION - WRITE - DELEGATION - 3_000,
  },
  {
    about: 'a precompiled contract, with an authorization',
    ...authorizing(second),
    to: precompile(3),
    rootGas: 285_000 - AUTHORIZATION - WRITE - DELEGATION,
  },
  {
    about: 'gas for state, with an authorization',
    ...authorizing(third),
    to: SENDERS[0].address,
    gas: MAX_EXECUTION + 100_000,
    rootGas: MAX_EXECUTION - 15_000 - AUTHORIZATION - WRITE,
  },
  {
    about: 'an authorization, then no gas for a new account',
    ...authorizing(fourth),
    to: fresh(6),
    value: 1n,
    gas: 200_000,
    rootGas: 179_000 - AUTHORIZATION - WRITE - DELEGATION,
  },
];

/** Transactions of one block: an authorization, and a call of its account. */
const IN_ONE_BLOCK: typeof WITHOUT_STEPS = [
  {
    about: 'an authorization',
    ...authorizing(second),
    to: from.address,
    rootGas: 288_000 - AUTHORIZATION - WRITE,
    delegations: [{ account: second, code: fresh(10) }],
  },
  {
    about: 'data at the floor, for a delegation of the same block',
    from,
    to: second.address,
    data: zeros(900),
    gas: 300_000,
    rootGas: 281_400 - 3_000,
  },
];

const WITH_STEPS: readonly Transaction[] = [
  {
    about: 'a delegation',
    from,
    to: DELEGATOR.address,
    type: 'eip7702',
    delegations: [{ account: DELEGATOR, code: ACTORS[0] }],
    data: program({ kind: 'return', data: '0x01' as Data }),
  },
  {
    about: 'delegated code',
    from,
    to: DELEGATOR.address,
    value: 1n,
    data: program({ kind: 'log', target: from.address }),
  },
  { about: 'a reverted creation', from, data: constructing({ kind: 'revert' }) },
  {
    about: 'gas for state',
    from,
    to: ACTORS[1],
    gas: MAX_EXECUTION + 1_000_000,
    data: program({ kind: 'store', target: fresh(4), value: 1n }),
  },
];

/** Minimum gas of a call (EIP-7976). */
const floorOf = ({ value = 0n, data }: Transaction): number =>
  12_000 + 3_000 + (value > 0n ? 6_000 : 0) + 32 * ((data?.length ?? 2) - 2);

const hasRefundOrState = ({ op, refund = 0 }: Step): boolean =>
  refund > 0 || ['SSTORE', 'CREATE', 'CREATE2', 'CALL', 'SELFDESTRUCT'].includes(op);

const binary = gethBinary();

describe.skipIf(binary === undefined)(`geth since Amsterdam${binary ? '' : ` (${NO_GETH})`}`, () => {
  let geth: Geth;
  let node: Node;
  let client: NodeClient;
  let head = 0;
  const hashes = new Map<string, Transaction>();
  const roots = new Map<string, Trace & { readonly type: 'call' | 'create' }>();

  beforeAll(async () => {
    geth = await startGeth(binary ?? '', {
      fork: 'amsterdam',
      code: new Map(ACTORS.map((actor) => [actor, ACTOR])),
    });
    node = connect(geth.url);
    client = new NodeClient(geth.url);
    const random = createRandom(7);
    const nonces: Nonces = new Map([...ACCOUNTS, DELEGATOR].map(({ address }) => [address, 0]));
    const trees = Array.from({ length: sizeInSearch(20, { ordinary: 8 }) }, () => randomTransactions(random));
    const alone = [...DELEGATIONS, ...WITHOUT_STEPS, ...WITH_STEPS, ...trees.flat()];
    for (const transactions of [...alone.map((one) => [one]), IN_ONE_BLOCK]) {
      const signed = transactions.map((transaction) => sign(transaction, CHAIN_ID, nonces));
      // The last one waits for those with lower nonces.
      const sent: string[] = [];
      for (const bytes of signed.reverse()) sent.unshift(await node.call('eth_sendRawTransaction', bytes));
      for (const [i, hash] of sent.entries()) {
        await mined(node, hash);
        hashes.set(hash, transactions[i] ?? expect.unreachable());
      }
    }
    const source = new NodeTraces(client);
    head = Number(await node.call('eth_blockNumber'));
    for (let number = 1; number <= head; number++)
      for (const trace of (await source.block(number))?.traces ?? [])
        if ((trace.type === 'call' || trace.type === 'create') && trace.traceAddress.length === 0)
          roots.set(trace.transactionHash ?? '', trace);
  });
  afterAll(async () => {
    await client.close();
    await geth.stop();
  });

  test('has exact gas of root frames of transactions that run no code', () => {
    const sent = [...hashes].filter(([, transaction]) => 'rootGas' in transaction);
    expect(sent.map(([hash, { about }]) => [about, Number(roots.get(hash)?.action.gas)])).toEqual(
      [...WITHOUT_STEPS, ...IN_ONE_BLOCK].map(({ about, rootGas }) => [about, rootGas]),
    );
    const blocks = IN_ONE_BLOCK.map((one) => roots.get(hashOf(one))?.blockNumber);
    expect(new Set(blocks).size).toBe(1);
  });

  test('has exact gas of root frames of transactions that run code, and gasUsed that is never too high', async () => {
    let exact = 0;
    for (const [hash, transaction] of hashes) {
      const root = roots.get(hash) ?? expect.unreachable();
      const steps = await stepsOf(hash);
      const last = steps.findLast(({ depth }) => depth === 1);
      if (steps[0] === undefined || last === undefined) continue;
      expect(Number(root.action.gas), transaction.about).toBe(steps[0].gas);
      // The gas of a creation also pays for its code, which no step shows.
      if (root.type === 'create' || !['STOP', 'RETURN', 'REVERT'].includes(last.op)) continue;
      const { gasUsed } = await node.call<{ gasUsed: string }>('eth_getTransactionReceipt', hash);
      const used = steps[0].gas - (last.gas - last.gasCost);
      const converted = Number(root.result?.gasUsed);
      const isPlain = Number(gasUsed) > floorOf(transaction) && !steps.some(hasRefundOrState);
      if (isPlain) expect(converted, transaction.about).toBe(used);
      else expect(converted, transaction.about).toBeLessThanOrEqual(used);
      if (isPlain) exact++;
    }
    expect(exact).toBeGreaterThan(2);
  });

  describe.each([
    {
      refused: 'debug_traceCall',
      doctor: 'gas of root frames of some transactions with authorizations or much data since Amsterdam',
    },
    { refused: '"limit":1', doctor: 'gas and gasUsed of root frames since Amsterdam' },
  ])('of which a proxy refuses $refused', ({ refused, doctor }) => {
    let proxy: Awaited<ReturnType<typeof startInterceptedNode>>;
    beforeAll(async () => {
      proxy = await startInterceptedNode(geth.url);
      proxy.intercept = ({ body }, answer) => {
        if (!body.includes(refused)) return answer();
        const error = { code: -32_601, message: 'the method is not allowed' };
        const refuse = ({ id }: { id: number }): object => ({ jsonrpc: '2.0', id, error });
        const request = JSON.parse(body);
        return JSON.stringify(Array.isArray(request) ? request.map(refuse) : refuse(request));
      };
    });
    afterAll(() => proxy.stop());

    test('counts all transactions whose root frames have inexact gas', async () => {
      const client = new NodeClient(proxy.url);
      let counted = 0;
      const source = new NodeTraces(client, {
        onInexactGas(transactions) {
          counted += transactions;
        },
      });
      let wrong = 0;
      for (let number = 1; number <= head; number++)
        for (const trace of (await source.block(number))?.traces ?? []) {
          const exact = roots.get(trace.transactionHash ?? '');
          if (trace.traceAddress.length > 0 || trace.type === 'reward' || !('gas' in trace.action)) continue;
          if (trace.action.gas !== exact?.action.gas) wrong++;
        }
      await client.close();
      expect(wrong).toBeGreaterThan(0);
      expect(counted).toBeGreaterThanOrEqual(wrong);
    });

    test('is named by doctor', async () => {
      const { stdout } = await run(['doctor', '--upstream', proxy.url]);
      expect(stdout).toContain(`Not exact: ${doctor}, because the node refuses`);
    });
  });

  test('has no other inaccuracy that doctor names', async () => {
    const { stdout } = await run(['doctor', '--upstream', geth.url]);
    expect(stdout.match(/Not exact/g)).toHaveLength(1);
  });

  const hashOf = (sent: Transaction): string =>
    [...hashes].find(([, transaction]) => transaction === sent)?.[0] ?? expect.unreachable();

  const stepsOf = async (hash: string): Promise<readonly Step[]> =>
    (
      await node.call<{ structLogs: Step[] }>('debug_traceTransaction', hash, {
        disableStack: true,
        disableStorage: true,
      })
    ).structLogs;
});
