import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ask } from './support/ask.ts';
import { type Answered, type Fault, type LyingNode, startLyingNode } from './support/lyingNode.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { rebuildTail } from './support/rebuildTail.ts';

/** Enough that the node, which takes the block 64 below its head for final, has final blocks. */
const BLOCKS = SCRIPT_BLOCKS + 80;
/** Blocks below are not in the index until they are asked for. */
const INDEX_FROM = 60;
const SEED = 31;
/** Attempts that show that a complaint is not made anew with each. */
const SEVERAL_ATTEMPTS = 2;

/** What a node does wrong with the block after the head, by what the log must say of it. */
interface Wrong {
  readonly says: string;
  readonly lie?: (answer: Answered, block: number) => unknown;
  readonly fault?: Fault;
  readonly reason: 'unreachable' | 'nonsense' | 'refused';
  readonly words: RegExp;
}

const isTraces = ({ method, params }: Answered, block: number): boolean =>
  method === 'trace_block' && params[0] === `0x${block.toString(16)}`;
const isHeader = ({ method, params }: Answered, block: number): boolean =>
  method === 'eth_getBlockByNumber' && params[0] === `0x${block.toString(16)}`;

/** Replaces the traces of the block after the head. */
const traces =
  (change: (list: Record<string, unknown>[]) => unknown) =>
  (answer: Answered, block: number): unknown =>
    isTraces(answer, block) ? change(answer.result as Record<string, unknown>[]) : answer.result; // a real node's list

const WRONGS: readonly Wrong[] = [
  {
    says: 'hangs up on every request',
    fault: (response) => response.destroy(),
    reason: 'unreachable',
    words: /cannot be reached/,
  },
  {
    says: 'answers with a page of HTML',
    fault: (response) => response.writeHead(200).end('<html>Service Unavailable</html>'),
    reason: 'nonsense',
    words: /not JSON/,
  },
  {
    says: 'answers with half a body and hangs up',
    fault: (response, text) => {
      response.writeHead(200, { 'content-length': text.length });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    },
    reason: 'unreachable',
    words: /broke off/,
  },
  {
    says: 'answers with HTTP status 503',
    fault: (response) => response.writeHead(503).end('busy'),
    reason: 'refused',
    words: /503/,
  },
  {
    says: 'answers with an empty object',
    fault: (response) => response.writeHead(200).end('{}'),
    reason: 'nonsense',
    words: /no answer|neither result nor error/,
  },
  {
    says: 'gives the traces of another block',
    lie: traces((list) => list.map((trace) => ({ ...trace, blockHash: `0x${'5'.repeat(64)}` }))),
    reason: 'nonsense',
    words: /block hash/,
  },
  {
    says: 'leaves out the last trace',
    lie: traces((list) => list.slice(0, -1)),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'leaves out the first trace',
    lie: traces((list) => list.slice(1)),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'gives a trace twice',
    lie: traces((list) => [...list, ...list.slice(-1)]),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'has no traces of a block with transactions',
    lie: traces(() => []),
    reason: 'nonsense',
    words: /only 0 of/,
  },
  {
    says: 'says null for the traces of a block',
    lie: traces(() => null),
    reason: 'nonsense',
    words: /block \d+|trace_block/,
  },
  {
    says: 'gives a trace that is none',
    lie: traces((list) => [...list.slice(0, -1), { type: 'call' }]),
    reason: 'nonsense',
    words: /trace/,
  },
  {
    says: 'has no header of a block below its head',
    lie: (answer, block) => (isHeader(answer, block) ? null : answer.result),
    reason: 'nonsense',
    words: /no block \d+/,
  },
  {
    says: 'gives the header of another block',
    lie: (answer, block) =>
      isHeader(answer, block) ? { ...(answer.result as object), number: '0x1' } : answer.result,
    reason: 'nonsense',
    words: /gave block 1 for block/,
  },
  {
    says: 'gives a block that is no child of the one before',
    lie: (answer, block) =>
      isHeader(answer, block)
        ? { ...(answer.result as object), parentHash: `0x${'7'.repeat(64)}` }
        : answer.result,
    reason: 'nonsense',
    words: /parent/,
  },
];

/** After so long a complaint that still holds is logged again: on a slow machine a test takes longer. */
const REPEATED_COMPLAINT_MS = 60_000;

/** What is wrong was logged, and not again at every attempt. */
function expectSaidOnce(lines: readonly string[], members: object): void {
  const said = lines.map((line) => JSON.parse(line));
  expect(said[0]).toMatchObject(members);
  said.forEach(({ msg, time }, i) => {
    const before = said.slice(0, i).findLast((earlier) => earlier.msg === msg);
    if (before !== undefined)
      expect(Date.parse(time) - Date.parse(before.time), msg).toBeGreaterThanOrEqual(REPEATED_COMPLAINT_MS);
  });
}

describe('with a node that fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-faulty-'));
  const statePath = join(folder, 'chain.json');
  const dataDir = join(folder, 'data');
  let anvil: Anvil;
  let node: LyingNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    anvil = await startAnvil({ statePath });
    await grow(BLOCKS);
    node = await startLyingNode(anvil.url);
    floodgate = await start();
    await caughtUp();
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await anvil?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (whenListening = false): Promise<Floodgate> =>
    startFloodgate({
      upstream: node.url,
      // As on a real network: anvil's blocks count as final nowhere else.
      args: [
        '--index-from',
        String(INDEX_FROM),
        '--index-poll-interval-ms',
        '50',
        '--index-finality',
        'node',
      ],
      dataDir,
      whenListening,
    });

  async function grow(steps: number): Promise<void> {
    await (await createTraffic({ url: anvil.url, seed: SEED })).run({ steps });
  }

  /** The node's chain, once the index holds its last block. */
  async function caughtUp(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    await until('the index has the last block of the node', async () => {
      const { result } = await ask(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  async function metric(...parts: readonly string[]): Promise<number> {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    const line = text
      .split('\n')
      .find((one) => !one.startsWith('#') && parts.every((part) => one.includes(part)));
    return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  const failures = (reason: string): Promise<number> =>
    metric('floodgate_ingest_failures_total', `reason="${reason}"`);

  async function readiness(): Promise<{ status: number; ingest: string }> {
    const response = await fetch(`${floodgate.url}/readyz`);
    const { checks } = (await response.json()) as { checks: { ingest: string } };
    return { status: response.status, ingest: checks.ingest };
  }

  /** What is in the index is answered as if nothing were wrong. */
  async function expectAnswers({ head, traces }: NodeChain): Promise<void> {
    const range = { fromBlock: INDEX_FROM, toBlock: head };
    const filter = { ...range, after: 3, count: 200, fromAddresses: [], toAddresses: [] };
    const { result, error } = await ask(floodgate.gatewayUrl, { ...range, after: 3 });
    expect(error).toBeUndefined();
    expect(result).toEqual(plainFilter(traces, { ...filter, mode: 'intersection' }));
  }

  const complaints = (words: RegExp): string[] =>
    floodgate
      .output()
      .split('\n')
      .filter((line) => line.includes('indexing waits') && words.test(line));

  it.each(WRONGS)(
    'that $says: it goes on answering, says so, and recovers',
    async ({ lie, fault, reason, words }) => {
      const before = await caughtUp();
      const [failed, complained] = [await failures(reason), complaints(words).length];
      node.lie = lie && ((answer) => lie(answer, before.head + 1));
      node.fault = fault;
      try {
        await grow(1);
        await until(
          'ingest has failed several times',
          async () => (await failures(reason)) >= failed + SEVERAL_ATTEMPTS,
        );
        await expectAnswers(before);
        const { status, ingest } = await readiness();
        expect([status, ingest]).toEqual([503, expect.stringMatching(words)]);
        const lines = complaints(words).slice(complained);
        expectSaidOnce(lines, { level: 40, reason });
        const { result, error } = await ask(floodgate.gatewayUrl, {
          fromBlock: before.head + 1,
          toBlock: before.head + 1,
        });
        // Where the node's head is not known to have risen the block is past it.
        expect([result, error?.code]).toEqual([undefined, fault === undefined ? -32001 : expect.any(Number)]);
        if (error?.code === -32001) expect(error.data).toEqual({ blockNumber: before.head + 1 });
      } finally {
        node.lie = undefined;
        node.fault = undefined;
      }
      await expectAnswers(await caughtUp());
      await until('it is ready again', async () => (await readiness()).status === 200);
    },
  );

  it.each(WRONGS)(
    'that $says: an older block that it cannot give is an error that names it',
    async ({ lie, fault }) => {
      const { head } = await caughtUp();
      const block = WRONGS.findIndex((wrong) => wrong.lie === lie && wrong.fault === fault) + 3;
      node.lie = lie && ((answer) => lie(answer, block));
      node.fault = fault;
      try {
        const filter = { fromBlock: block, toBlock: head };
        const { result, error } = await ask(floodgate.gatewayUrl, filter);
        expect(result).toBeUndefined();
        expect(error).toMatchObject({ code: -32001, data: { blockNumber: block } });
        expect(error?.message).toContain(`block ${block}`);
        expect(await ask(floodgate.gatewayUrl, { ...filter, count: 0 })).toMatchObject({ result: [] });
      } finally {
        node.lie = undefined;
        node.fault = undefined;
      }
      await caughtUp();
      const { traces } = await readChain(anvil.url);
      const { result } = await ask(floodgate.gatewayUrl, { fromBlock: block, toBlock: block });
      expect(result).toEqual(traces.filter(({ blockNumber }) => blockNumber === block));
    },
  );

  it('that takes its time: what is indexed is answered meanwhile, and no failure is counted', async () => {
    const before = await caughtUp();
    const asked = await metric('floodgate_ingest_failures_total');
    let hurry = (): void => undefined;
    node.slowness = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    await grow(2);
    for (let i = 0; i < 20; i++) await expectAnswers(before);
    node.slowness = undefined;
    hurry();
    await expectAnswers(await caughtUp());
    expect(await metric('floodgate_ingest_failures_total')).toBe(asked);
  });

  it('that is stopped (SIGSTOP) and goes on: likewise', async () => {
    const before = await caughtUp();
    process.kill(anvil.pid, 'SIGSTOP');
    try {
      for (let i = 0; i < 20; i++) await expectAnswers(before);
    } finally {
      process.kill(anvil.pid, 'SIGCONT');
    }
    await grow(1);
    await expectAnswers(await caughtUp());
  });

  it('that is killed and started again: it goes on by itself', async () => {
    const before = await caughtUp();
    await anvil.save();
    process.kill(anvil.pid, 'SIGKILL');
    await anvil.exited;
    await until('it is not ready', async () => (await readiness()).status === 503);
    await expectAnswers(before);
    anvil = await startAnvil({ statePath });
    node.upstream = anvil.url;
    await grow(1);
    await expectAnswers(await caughtUp());
    expect(floodgate.output()).toContain('indexing goes on');
  });

  it('that is down when the server starts: it starts, answers what it has, and recovers', async () => {
    const before = await caughtUp();
    await floodgate.stop();
    node.fault = (response) => response.destroy();
    try {
      floodgate = await start(true);
      await until('it says what is wrong', async () => /cannot be reached/.test((await readiness()).ingest));
      await expectAnswers(before);
    } finally {
      node.fault = undefined;
    }
    await expectAnswers(await caughtUp());
  });

  it('that is on another chain: it says so, indexes nothing of it, and answers what it has', async () => {
    const before = await caughtUp();
    await floodgate.stop();
    node.lie = ({ method, result }) => (method === 'eth_chainId' ? '0x5' : result);
    try {
      floodgate = await start(true);
      await until('it says what is wrong', async () => (await failures('wrong_chain')) > 0);
      expect(await readiness()).toEqual({ status: 503, ingest: expect.stringContaining('chain 5') });
      await grow(1);
      await expectAnswers(before);
      expect(complaints(/another data folder, or the right node/)).toHaveLength(1);
    } finally {
      node.lie = undefined;
    }
    await expectAnswers(await caughtUp());
  });

  it('that replaces a final block: the index keeps it and says what to do', async () => {
    // The node must still have the states of the blocks that it goes back over; a restart loses them.
    await grow(75);
    const before = await caughtUp();
    await rebuildTail(anvil.url, { depth: 70, blocks: 71, seed: SEED + 1 });
    await until('it says what is wrong', async () => (await failures('finality')) > 0);
    await expectAnswers(before);
    expect(await readiness()).toEqual({ status: 503, ingest: expect.stringContaining('never replaced') });
    const lines = complaints(/finalized blocks are never replaced.*floodgate index --rewind/);
    expectSaidOnce(lines, { level: 40, reason: 'finality' });
    await until('it is tried again', async () => (await failures('finality')) > SEVERAL_ATTEMPTS);
    await expectAnswers(before);
  });
});
