import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';
import {
  type AnsweredCall,
  type FaultyNode,
  type ResponseHandler,
  startFaultyNode,
} from './support/faultyNode.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { rebuildTail } from './support/rebuildTail.ts';

/** More than 64 blocks: anvil's `finalized` block is 64 below its head. */
const BLOCKS = SCRIPT_BLOCKS + 80;
/** Blocks below this one are indexed on demand. */
const INDEX_FROM = 60;
const SEED = 31;
/** Number of failed attempts that must produce a single log message. */
const SEVERAL_ATTEMPTS = 2;

/** A fault of the node for the block after the head, and the reason that must be logged. */
interface NodeFault {
  readonly says: string;
  readonly lie?: (answer: AnsweredCall, block: number) => unknown;
  readonly fault?: ResponseHandler;
  readonly reason: 'unreachable' | 'nonsense' | 'refused';
  readonly words: RegExp;
}

const isTraces = ({ method, params }: AnsweredCall, block: number): boolean =>
  method === 'trace_block' && params[0] === `0x${block.toString(16)}`;
const isHeader = ({ method, params }: AnsweredCall, block: number): boolean =>
  method === 'eth_getBlockByNumber' && params[0] === `0x${block.toString(16)}`;

/** Returns a fault that changes the traces of the block after the head. */
const traces =
  (change: (list: Record<string, unknown>[]) => unknown) =>
  (answer: AnsweredCall, block: number): unknown =>
    isTraces(answer, block) ? change(answer.result as Record<string, unknown>[]) : answer.result; // a list from anvil

const NODE_FAULTS: readonly NodeFault[] = [
  {
    says: 'closes the connection of every request',
    fault: (response) => response.destroy(),
    reason: 'unreachable',
    words: /cannot be reached/,
  },
  {
    says: 'returns HTML',
    fault: (response) => response.writeHead(200).end('<html>Service Unavailable</html>'),
    reason: 'nonsense',
    words: /not JSON/,
  },
  {
    says: 'returns a truncated body and closes the connection',
    fault: (response, text) => {
      response.writeHead(200, { 'content-length': text.length });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    },
    reason: 'unreachable',
    words: /closed the connection/,
  },
  {
    says: 'returns HTTP status 503',
    fault: (response) => response.writeHead(503).end('busy'),
    reason: 'refused',
    words: /503/,
  },
  {
    says: 'returns an empty object',
    fault: (response) => response.writeHead(200).end('{}'),
    reason: 'nonsense',
    words: /no response|neither result nor error/,
  },
  {
    says: 'returns the traces of another block',
    lie: traces((list) => list.map((trace) => ({ ...trace, blockHash: `0x${'5'.repeat(64)}` }))),
    reason: 'nonsense',
    words: /block hash/,
  },
  {
    says: 'omits the last trace',
    lie: traces((list) => list.slice(0, -1)),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'omits the first trace',
    lie: traces((list) => list.slice(1)),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'returns a trace twice',
    lie: traces((list) => [...list, ...list.slice(-1)]),
    reason: 'nonsense',
    words: /block \d+/,
  },
  {
    says: 'returns no traces of a block with transactions',
    lie: traces(() => []),
    reason: 'nonsense',
    words: /transaction 0 of \d+ has no traces/,
  },
  {
    says: 'returns null for the traces of a block',
    lie: traces(() => null),
    reason: 'nonsense',
    words: /block \d+|trace_block/,
  },
  {
    says: 'returns an invalid trace',
    lie: traces((list) => [...list.slice(0, -1), { type: 'call' }]),
    reason: 'nonsense',
    words: /trace/,
  },
  {
    says: 'returns no header of a block below its head',
    lie: (answer, block) => (isHeader(answer, block) ? null : answer.result),
    reason: 'nonsense',
    words: /no block \d+/,
  },
  {
    says: 'returns the header of another block',
    lie: (answer, block) =>
      isHeader(answer, block) ? { ...(answer.result as object), number: '0x1' } : answer.result,
    reason: 'nonsense',
    words: /returned block 1 for block/,
  },
  {
    says: 'returns a block that is not a child of the previous one',
    lie: (answer, block) =>
      isHeader(answer, block)
        ? { ...(answer.result as object), parentHash: `0x${'7'.repeat(64)}` }
        : answer.result,
    reason: 'nonsense',
    words: /parent/,
  },
];

/** Interval after which a lasting failure is logged again; a test on a slow machine may exceed it. */
const LOG_REPEAT_MS = 60_000;

/** Checks that the failure was logged, and at most once per `LOG_REPEAT_MS`. */
function expectLoggedOnce(lines: readonly string[], members: object): void {
  const said = lines.map((line) => JSON.parse(line));
  expect(said[0]).toMatchObject(members);
  said.forEach(({ msg, time }, i) => {
    const before = said.slice(0, i).findLast((earlier) => earlier.msg === msg);
    if (before !== undefined)
      expect(Date.parse(time) - Date.parse(before.time), msg).toBeGreaterThanOrEqual(LOG_REPEAT_MS);
  });
}

describe('a server whose node fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-faulty-'));
  const statePath = join(folder, 'chain.json');
  const dataDir = join(folder, 'data');
  let anvil: Anvil;
  let node: FaultyNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    anvil = await startAnvil({ statePath });
    await grow(BLOCKS);
    node = await startFaultyNode(anvil.url);
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
      // Uses the node's `finalized` block, as on a real network; by default blocks of a development chain are not final.
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

  /** Returns the node's chain after the index contains its last block. */
  async function caughtUp(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    await until('the last block of the node to be indexed', async () => {
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
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

  /** Checks that indexed blocks are served correctly. */
  async function expectAnswers({ head, traces }: NodeChain): Promise<void> {
    const range = { fromBlock: INDEX_FROM, toBlock: head };
    const filter = { ...range, after: 3, count: 200, fromAddresses: [], toAddresses: [] };
    const { result, error } = await callTraceFilter(floodgate.gatewayUrl, { ...range, after: 3, count: 200 });
    expect(error).toBeUndefined();
    expect(result).toEqual(referenceFilter(traces, { ...filter, mode: 'intersection' }));
  }

  const complaints = (words: RegExp): string[] =>
    floodgate
      .output()
      .split('\n')
      .filter((line) => line.includes('indexing waits') && words.test(line));

  it.each(NODE_FAULTS)(
    'serves indexed blocks, reports the failure and recovers if the node $says',
    async ({ lie, fault, reason, words }) => {
      const before = await caughtUp();
      const [failed, complained] = [await failures(reason), complaints(words).length];
      node.replaceResult = lie && ((answer) => lie(answer, before.head + 1));
      node.replaceResponse = fault;
      try {
        await grow(1);
        await until(
          'several failures of ingest',
          async () => (await failures(reason)) >= failed + SEVERAL_ATTEMPTS,
        );
        await expectAnswers(before);
        const { status, ingest } = await readiness();
        expect([status, ingest]).toEqual([503, expect.stringMatching(words)]);
        const lines = complaints(words).slice(complained);
        expectLoggedOnce(lines, { level: 40, reason });
        const { result, error } = await callTraceFilter(floodgate.gatewayUrl, {
          fromBlock: before.head + 1,
          toBlock: before.head + 1,
        });
        // If the new head is not known, the error is that the block is past the head.
        expect([result, error?.code]).toEqual([undefined, fault === undefined ? -32001 : expect.any(Number)]);
        if (error?.code === -32001) expect(error.data).toEqual({ blockNumber: before.head + 1 });
      } finally {
        node.replaceResult = undefined;
        node.replaceResponse = undefined;
      }
      await expectAnswers(await caughtUp());
      await until('the server to be ready', async () => (await readiness()).status === 200);
    },
  );

  it.each(NODE_FAULTS)(
    'returns -32001 with the number of an older block if the node $says',
    async ({ lie, fault }) => {
      const { head } = await caughtUp();
      const block = NODE_FAULTS.findIndex((wrong) => wrong.lie === lie && wrong.fault === fault) + 3;
      node.replaceResult = lie && ((answer) => lie(answer, block));
      node.replaceResponse = fault;
      try {
        const filter = { fromBlock: block, toBlock: head };
        const { result, error } = await callTraceFilter(floodgate.gatewayUrl, filter);
        expect(result).toBeUndefined();
        expect(error).toMatchObject({ code: -32001, data: { blockNumber: block } });
        expect(error?.message).toContain(`block ${block}`);
        expect(await callTraceFilter(floodgate.gatewayUrl, { ...filter, count: 0 })).toMatchObject({
          result: [],
        });
      } finally {
        node.replaceResult = undefined;
        node.replaceResponse = undefined;
      }
      await caughtUp();
      const { traces } = await readChain(anvil.url);
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: block, toBlock: block });
      expect(result).toEqual(traces.filter(({ blockNumber }) => blockNumber === block));
    },
  );

  it('serves indexed blocks and counts no failure while the node is slow', async () => {
    const before = await caughtUp();
    const asked = await metric('floodgate_ingest_failures_total');
    let hurry = (): void => undefined;
    node.delay = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    await grow(2);
    for (let i = 0; i < 20; i++) await expectAnswers(before);
    node.delay = undefined;
    hurry();
    await expectAnswers(await caughtUp());
    expect(await metric('floodgate_ingest_failures_total')).toBe(asked);
  });

  it('serves indexed blocks while the node is stopped with SIGSTOP', async () => {
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

  it('continues to index after the node is killed and restarted', async () => {
    const before = await caughtUp();
    await anvil.save();
    process.kill(anvil.pid, 'SIGKILL');
    await anvil.exited;
    await until('the server not to be ready', async () => (await readiness()).status === 503);
    await expectAnswers(before);
    anvil = await startAnvil({ statePath });
    node.upstream = anvil.url;
    await grow(1);
    await expectAnswers(await caughtUp());
    expect(floodgate.output()).toContain('indexing resumed');
  });

  it('starts, serves indexed blocks and recovers if the node is unreachable at start', async () => {
    const before = await caughtUp();
    await floodgate.stop();
    node.replaceResponse = (response) => response.destroy();
    try {
      floodgate = await start(true);
      await until('the reason in /readyz', async () => /cannot be reached/.test((await readiness()).ingest));
      await expectAnswers(before);
    } finally {
      node.replaceResponse = undefined;
    }
    await expectAnswers(await caughtUp());
  });

  it('reports a node of another chain, indexes none of its blocks and serves indexed blocks', async () => {
    const before = await caughtUp();
    await floodgate.stop();
    node.replaceResult = ({ method, result }) => (method === 'eth_chainId' ? '0x5' : result);
    try {
      floodgate = await start(true);
      await until('a failure for the wrong chain', async () => (await failures('wrong_chain')) > 0);
      expect(await readiness()).toEqual({ status: 503, ingest: expect.stringContaining('chain 5') });
      await grow(1);
      await expectAnswers(before);
      expect(complaints(/another data folder or another node/)).toHaveLength(1);
    } finally {
      node.replaceResult = undefined;
    }
    await expectAnswers(await caughtUp());
  });

  it('keeps a final block that the node replaces, and logs the remedy', async () => {
    // The node needs the states of the blocks to replace, which were lost at its restart.
    await grow(75);
    const before = await caughtUp();
    await rebuildTail(anvil.url, { depth: 70, blocks: 71, seed: SEED + 1 });
    await until('a failure for the replaced final block', async () => (await failures('finality')) > 0);
    await expectAnswers(before);
    expect(await readiness()).toEqual({ status: 503, ingest: expect.stringContaining('never replaced') });
    const lines = complaints(/finalized blocks are never replaced.*floodgate index --rewind/);
    expectLoggedOnce(lines, { level: 40, reason: 'finality' });
    await until('another attempt', async () => (await failures('finality')) > SEVERAL_ATTEMPTS);
    await expectAnswers(before);
  });
});
