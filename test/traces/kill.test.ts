import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceFilter } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { inCi } from '../support/search.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ask, askAll } from './support/ask.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const KILLS = inCi(20, { elsewhere: 5 });
const SEED = 9;
/** The chain loses its last blocks to others in this share of the steps. */
const REORGANISED_SHARE = 0.05;
const FOLLOW_CLOSELY = ['--index-from', '0', '--index-poll-interval-ms', '50'];
const ACCOUNT = 'kill';
const PAGE = 200;

/** What the server has promised: rules by their ids, as it last acknowledged them. */
interface Promised {
  readonly rules: Map<string, Rule>;
  /** Changes sent and not acknowledged: after a kill they may be there or not. */
  readonly open: Map<string, Rule>;
}

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly mode: string;
}

describe(`kill -9, ${KILLS} times, while blocks are ingested and rules are written`, () => {
  const random = new Random(SEED);
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-kill-'));
  let anvil: Anvil;
  let floodgate: FloodgateProcess;

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: SEED })).run({ steps: SCRIPT_BLOCKS });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = (): Promise<FloodgateProcess> =>
    startFloodgateProcess({ upstream: anvil.url, args: FOLLOW_CLOSELY, dataDir });

  it('loses no acknowledged rule, and leaves an index that equals one built from scratch', async () => {
    const promised: Promised = { rules: new Map(), open: new Map() };
    floodgate = await start();
    let interrupted = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const head = await indexHead(floodgate);
      const work = [
        growChain(anvil.url, random, SEED + kill),
        ...[1, 2, 3].map(() => writeRules(floodgate, promised)),
      ];
      const enough = promised.rules.size + random.between(1, 12);
      await until('rules are written', () => promised.rules.size >= enough);
      await until('blocks are ingested', async () => (await indexHead(floodgate)) !== head);
      await floodgate.kill();
      for (const one of work) one.stop();
      await Promise.all(work.map(({ ended }) => ended));
      if (promised.open.size > 0) interrupted++;

      floodgate = await start();
      await expectPromised(floodgate, promised);
      await expectIndexOf(floodgate, await readChain(anvil.url));
    }
    // Otherwise no kill came while a rule was being written.
    expect(interrupted).toBeGreaterThan(KILLS / 4);

    const scratch = await startFloodgateProcess({ upstream: anvil.url, args: FOLLOW_CLOSELY });
    try {
      const queries = queriesOver(await readChain(anvil.url));
      expect(await askAll(floodgate.gatewayUrl, queries)).toEqual(await askAll(scratch.gatewayUrl, queries));
    } finally {
      await scratch.stop();
    }
  });
});

interface Work {
  stop(): void;
  readonly ended: Promise<void>;
}

/** Repeats a step until it is stopped. */
function repeat(step: () => Promise<void>): Work {
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) await step();
  };
  const stop = (): void => {
    stopped = true;
  };
  return { stop, ended: run() };
}

/** Blocks as fast as the node makes them, the last few replaced by others now and then. */
function growChain(url: string, random: Random, seed: number): Work {
  const traffic = createTraffic({ url, seed });
  let steps = 0;
  return repeat(async () => {
    steps++;
    if (random.chance(REORGANISED_SHARE))
      await rebuildTail(url, { depth: random.between(1, 5), blocks: 5, seed: seed * 1000 + steps });
    else await (await traffic).step();
  });
}

/** Creates a rule, changes it, and so on, one request after the other. A request that the kill broke off is open. */
function writeRules(floodgate: FloodgateProcess, promised: Promised): Work {
  const collection = `${floodgate.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
  const send = async (method: string, url: string, body: object): Promise<Rule | undefined> => {
    try {
      const headers = { authorization: `Bearer ${floodgate.token}` };
      const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
      const { success, result } = (await response.json()) as { success: boolean; result: Rule };
      return success ? result : undefined;
    } catch {
      return undefined; // the server was killed: nothing was promised
    }
  };
  let counter = 0;
  const work = repeat(async () => {
    const name = `rule-${process.hrtime.bigint()}-${counter++}`;
    promised.open.set(name, { id: '', name, mode: 'enabled' });
    const created = await send('POST', collection, ruleNamed(name));
    if (created === undefined) return work.stop();
    promised.open.delete(name);
    promised.rules.set(created.id, created);

    const changed = { ...created, mode: 'monitoring' };
    promised.open.set(created.id, changed);
    const answer = await send('PATCH', `${collection}/${created.id}`, { mode: 'monitoring' });
    if (answer === undefined) return work.stop();
    promised.open.delete(created.id);
    promised.rules.set(created.id, answer);
  });
  return work;
}

const ruleNamed = (name: string): object => ({
  scope: 'global',
  name,
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
});

/** Every acknowledged rule is there as it was acknowledged; what was not acknowledged is there whole, or not at all. */
async function expectPromised(floodgate: FloodgateProcess, promised: Promised): Promise<void> {
  const response = await fetch(
    `${floodgate.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`,
    { headers: { authorization: `Bearer ${floodgate.token}` } },
  );
  const { result } = (await response.json()) as { result: Rule[] };
  const held = new Map(result.map((rule) => [rule.id, rule]));
  for (const [id, rule] of promised.rules) {
    const now = held.get(id);
    expect(now, `the acknowledged rule ${id} is lost`).toBeDefined();
    if (promised.open.has(id)) expect([rule.mode, 'monitoring']).toContain(now?.mode);
    else expect(now).toEqual(rule);
  }
  for (const rule of result) {
    if (!promised.rules.has(rule.id))
      expect(promised.open.has(rule.name), `${rule.name} is nobody's`).toBe(true);
    promised.rules.set(rule.id, rule);
  }
  promised.open.clear();
}

async function indexHead({ gatewayUrl }: FloodgateProcess): Promise<string | undefined> {
  return (await ask(gatewayUrl, { count: 1 })).result?.[0]?.blockHash;
}

/** The index holds this chain and answers as a plain filter over it does: everything, and by each of its addresses. */
async function expectIndexOf(floodgate: FloodgateProcess, chain: NodeChain): Promise<void> {
  await until(
    'the index has the last block',
    async () => (await indexHead(floodgate)) === chain.hashes[chain.head],
  );
  const queries = queriesOver(chain);
  const answers = await askAll(floodgate.gatewayUrl, queries);
  queries.forEach((query, i) => {
    const expected = plainFilter(chain.traces, meaningOf(query));
    if (JSON.stringify(answers[i]?.result) !== JSON.stringify(expected))
      expect({ query, result: answers[i]?.error ?? answers[i]?.result }).toEqual({ query, result: expected });
  });
}

interface AskedPage {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly after?: number;
  readonly fromAddress?: TraceFilter['fromAddresses'];
  readonly toAddress?: TraceFilter['toAddresses'];
}

/** All pages of all blocks, and the first page of each address on each side. */
function queriesOver({ head, traces }: NodeChain): AskedPage[] {
  const range = { fromBlock: 0, toBlock: head };
  const pages = Array.from({ length: Math.ceil(traces.length / PAGE) }, (_, i) => ({
    ...range,
    after: i * PAGE,
  }));
  const sides = addressesOf(traces).flatMap((address) => [
    { ...range, fromAddress: [address] },
    { ...range, toAddress: [address] },
  ]);
  return [...pages, ...sides];
}

const meaningOf = ({
  fromBlock,
  toBlock,
  after = 0,
  fromAddress = [],
  toAddress = [],
}: AskedPage): TraceFilter => ({
  fromBlock,
  toBlock,
  after,
  count: PAGE,
  fromAddresses: fromAddress,
  toAddresses: toAddress,
  mode: 'intersection',
});
