import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceFilter } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, callTraceFilterAll } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const KILLS = sizeInSearch(20, { ordinary: 5 });
const SEED = 9;
/** Share of the steps that replace the last blocks. */
const REORGANISED_SHARE = 0.05;
const FOLLOW_CLOSELY = ['--index-from', '0', '--index-poll-interval-ms', '50'];
const ACCOUNT = 'kill';
const PAGE = 200;

/** State that the server has acknowledged. */
interface AcknowledgedState {
  readonly rules: Map<string, Rule>;
  /** Changes sent but not acknowledged: after a kill they may or may not be stored. */
  readonly unacknowledged: Map<string, Rule>;
}

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly mode: string;
}

describe(`kill -9 during ingest and rule changes (${KILLS} times)`, () => {
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

  it('loses no acknowledged rule and leaves an index equal to one built from scratch', async () => {
    const promised: AcknowledgedState = { rules: new Map(), unacknowledged: new Map() };
    floodgate = await start();
    let interrupted = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const head = await indexHead(floodgate);
      const work = [
        growChain(anvil.url, random, SEED + kill),
        ...[1, 2, 3].map(() => writeRules(floodgate, promised)),
      ];
      const enough = promised.rules.size + random.between(1, 12);
      await until('rules to be written', () => promised.rules.size >= enough);
      await until('blocks to be ingested', async () => (await indexHead(floodgate)) !== head);
      await floodgate.kill();
      for (const one of work) one.stop();
      await Promise.all(work.map(({ ended }) => ended));
      if (promised.unacknowledged.size > 0) interrupted++;

      floodgate = await start();
      await expectAcknowledged(floodgate, promised);
      await expectIndexOf(floodgate, await readChain(anvil.url));
    }
    // Enough kills must happen while a rule is written.
    expect(interrupted).toBeGreaterThan(KILLS / 4);

    const scratch = await startFloodgateProcess({ upstream: anvil.url, args: FOLLOW_CLOSELY });
    try {
      const queries = queriesOver(await readChain(anvil.url));
      expect(await callTraceFilterAll(floodgate.gatewayUrl, queries)).toEqual(
        await callTraceFilterAll(scratch.gatewayUrl, queries),
      );
    } finally {
      await scratch.stop();
    }
  });
});

interface Work {
  stop(): void;
  readonly ended: Promise<void>;
}

/** Repeats a step until `stop` is called. */
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

/** Mines blocks without pause and sometimes replaces the last ones. */
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

/** Creates and changes rules, one request after the other. Requests interrupted by a kill stay in `promised.open`. */
function writeRules(floodgate: FloodgateProcess, promised: AcknowledgedState): Work {
  const collection = `${floodgate.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
  const send = async (method: string, url: string, body: object): Promise<Rule | undefined> => {
    try {
      const headers = { authorization: `Bearer ${floodgate.token}` };
      const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
      const { success, result } = (await response.json()) as { success: boolean; result: Rule };
      return success ? result : undefined;
    } catch {
      return undefined; // the server was killed before it acknowledged the change
    }
  };
  let counter = 0;
  const work = repeat(async () => {
    const name = `rule-${process.hrtime.bigint()}-${counter++}`;
    promised.unacknowledged.set(name, { id: '', name, mode: 'enabled' });
    const created = await send('POST', collection, ruleNamed(name));
    if (created === undefined) return work.stop();
    promised.unacknowledged.delete(name);
    promised.rules.set(created.id, created);

    const changed = { ...created, mode: 'monitoring' };
    promised.unacknowledged.set(created.id, changed);
    const answer = await send('PATCH', `${collection}/${created.id}`, { mode: 'monitoring' });
    if (answer === undefined) return work.stop();
    promised.unacknowledged.delete(created.id);
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

/** Checks that acknowledged rules are unchanged, and other changes are stored completely or not at all. */
async function expectAcknowledged(floodgate: FloodgateProcess, promised: AcknowledgedState): Promise<void> {
  const response = await fetch(
    `${floodgate.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`,
    { headers: { authorization: `Bearer ${floodgate.token}` } },
  );
  const { result } = (await response.json()) as { result: Rule[] };
  const held = new Map(result.map((rule) => [rule.id, rule]));
  for (const [id, rule] of promised.rules) {
    const now = held.get(id);
    expect(now, `the acknowledged rule ${id} is lost`).toBeDefined();
    if (promised.unacknowledged.has(id)) expect([rule.mode, 'monitoring']).toContain(now?.mode);
    else expect(now).toEqual(rule);
  }
  for (const rule of result) {
    if (!promised.rules.has(rule.id))
      expect(promised.unacknowledged.has(rule.name), `${rule.name} was never requested`).toBe(true);
    promised.rules.set(rule.id, rule);
  }
  promised.unacknowledged.clear();
}

async function indexHead({ gatewayUrl }: FloodgateProcess): Promise<string | undefined> {
  return (await callTraceFilter(gatewayUrl, { count: 1 })).result?.[0]?.blockHash;
}

/** Checks that the index returns the results of a plain filter over the chain, for all traces and by address. */
async function expectIndexOf(floodgate: FloodgateProcess, chain: NodeChain): Promise<void> {
  await until(
    'the last block to be indexed',
    async () => (await indexHead(floodgate)) === chain.hashes[chain.head],
  );
  const queries = queriesOver(chain);
  const answers = await callTraceFilterAll(floodgate.gatewayUrl, queries);
  queries.forEach((query, i) => {
    const expected = referenceFilter(chain.traces, meaningOf(query));
    if (JSON.stringify(answers[i]?.result) !== JSON.stringify(expected))
      expect({ query, result: answers[i]?.error ?? answers[i]?.result }).toEqual({ query, result: expected });
  });
}

interface AskedPage {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly count: number;
  readonly after?: number;
  readonly fromAddress?: TraceFilter['fromAddresses'];
  readonly toAddress?: TraceFilter['toAddresses'];
}

/** Returns queries for all pages of all blocks, and for the first page of each address as sender and as receiver. */
function queriesOver({ head, traces }: NodeChain): AskedPage[] {
  const range = { fromBlock: 0, toBlock: head, count: PAGE };
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
  count,
  after = 0,
  fromAddress = [],
  toAddress = [],
}: AskedPage): TraceFilter => ({
  fromBlock,
  toBlock,
  after,
  count,
  fromAddresses: fromAddress,
  toAddresses: toAddress,
  mode: 'intersection',
});
