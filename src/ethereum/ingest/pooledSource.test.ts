import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { NodePool } from '../nodes/index.ts';
import type { Hash } from '../traces/index.ts';
import { PooledSource } from './pooledSource.ts';

const hash = (text: string) => `0x${text.padStart(64, '0')}` as Hash; // 32 bytes of lower-case hex
const MINER = `0x${'ee'.repeat(20)}`;
const NOBODY = `0x${'00'.repeat(20)}`;
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';
const STATE_RECEIVER = '0x0000000000000000000000000000000000001001';
const PAYMENT = { hash: hash('9a'), from: MINER, to: NOBODY, gas: '0x5208', value: '0x1', input: '0x' };
const TOO_LARGE = 1024 * 1024 * 1024 + 1;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * HTTP side of a node with scripted responses and faults, for behaviour that no real node can produce in a unit test.
 */
class ReportedNode {
  head = 10;
  finalized: number | undefined;
  fork = 'a';
  chainId = 1;
  isDown = false;
  isTooLarge = false;
  lies = false;
  /** Reward of each block in wei; undefined if blocks are not mined. */
  rewardWei: bigint | undefined;
  /** Whether each block has a state sync of Polygon, and whether the node lists its root frame. */
  stateSync: 'traced' | 'untraced' | undefined;
  /** Block with a transaction that the node traces with `callTracer` only, while its `trace_block` fails. */
  tracedByTracer: number | undefined;
  /** Whether each block has a failed transaction, and whether the node's trace of it has an error. */
  failure: 'traced' | 'hidden' | undefined;
  receipts: 'all' | 'none' = 'all';
  /** Number of requests for receipts. */
  askedReceipts = 0;
  /** Blocks that the node does not trace, with the fault that it produces instead. */
  readonly failsAt = new Map<number, 'error' | 'lie' | 'status' | 'too large' | 'busy'>();
  /** Number of trace requests for each block. */
  readonly traced = new Map<number, number>();
  asked = 0;
  url = '';
  readonly #server: Server = createServer(async (request, response) => {
    this.asked++;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const calls = JSON.parse(body) as Call | Call[]; // Floodgate sends nothing else
    const isTraces = [calls].flat().some(({ method }) => method.startsWith('trace_'));
    const traces = [calls].flat().find(({ method }) => method === 'trace_block');
    const block = Number(traces?.params[0]);
    if (traces !== undefined) this.traced.set(block, (this.traced.get(block) ?? 0) + 1);
    const ofTransaction = [calls].flat().some(({ method }) => method === 'trace_transaction');
    const fails = traces
      ? this.failsAt.get(block)
      : ofTransaction && this.#hasTooLarge
        ? 'too large'
        : undefined;
    if (this.isDown) request.socket.destroy();
    else if (fails === 'status') response.writeHead(504).end();
    else if (fails === 'busy') response.writeHead(429).end();
    else if ((this.isTooLarge && isTraces) || fails === 'too large')
      response.writeHead(200, { 'content-length': TOO_LARGE }).write('{');
    else response.end(JSON.stringify(Array.isArray(calls) ? calls.map(this.#answer) : this.#answer(calls)));
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer = ({ id, method, params: [which] }: Call): object => {
    if (method === 'trace_block' && this.failsAt.get(Number(which)) === 'error')
      return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'tracing failed' } };
    const result = this.#resultOf(method, which);
    const error = { code: -32_601, message: `the method ${method} does not exist` };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };

  #resultOf(method: string, which: unknown): unknown {
    if (method === 'eth_chainId') return `0x${this.chainId.toString(16)}`;
    if (method === 'trace_block') {
      const lies = this.lies || this.failsAt.get(Number(which)) === 'lie';
      if (this.failure !== undefined) return [this.#failedFrame(Number(which))];
      if (this.stateSync === 'traced') return [this.#stateSyncFrame(Number(which))];
      return lies ? [{ type: 'call' }] : this.#rewards(Number(which));
    }
    if (method === 'debug_traceBlockByHash' && which === this.#hashOf(this.tracedByTracer ?? -1))
      return [{ txHash: PAYMENT.hash, result: { ...PAYMENT, type: 'CALL', gasUsed: '0x5208' } }];
    if (method === 'eth_getBlockReceipts') {
      this.askedReceipts++;
      if (this.receipts === 'none' || this.failure === undefined) return undefined;
      return [{ transactionHash: hash('6'), blockHash: this.#hashOf(Number(which)), status: '0x0' }];
    }
    if (method !== 'eth_getBlockByNumber') return undefined;
    if (which === 'latest') return this.#block(this.head);
    if (which === 'safe') return null;
    return this.#block(which === 'finalized' ? this.finalized : Number(which));
  }

  get #hasTooLarge(): boolean {
    return [...this.failsAt.values()].includes('too large');
  }

  #hashOf = (height: number): Hash => hash(height <= 0 ? '0' : `${this.fork}${height}`);

  #rewards(blockNumber: number): object[] {
    if (this.rewardWei === undefined) return [];
    const action = { author: MINER, rewardType: 'block', value: `0x${this.rewardWei.toString(16)}` };
    const place = { blockHash: this.#hashOf(blockNumber), blockNumber, subtraces: 0, traceAddress: [] };
    return [{ action, ...place, result: null, type: 'reward' }];
  }

  #failedFrame(blockNumber: number): object {
    const action = { callType: 'call', from: MINER, to: NOBODY, gas: '0x5208', input: '0x', value: '0x0' };
    return {
      action,
      result: { gasUsed: '0x0', output: '0x' },
      type: 'call',
      subtraces: 0,
      traceAddress: [],
      ...(this.failure === 'traced' && { error: 'Reverted' }),
      blockHash: this.#hashOf(blockNumber),
      blockNumber,
      transactionHash: hash('6'),
      transactionPosition: 0,
    };
  }

  #stateSyncFrame(blockNumber: number): object {
    const action = {
      callType: 'call',
      from: SYSTEM,
      to: STATE_RECEIVER,
      gas: '0x0',
      input: '0x',
      value: '0x0',
    };
    return {
      action,
      result: { gasUsed: '0x0', output: '0x' },
      type: 'call',
      subtraces: 0,
      traceAddress: [],
      blockHash: this.#hashOf(blockNumber),
      blockNumber,
      transactionHash: hash('5'),
      transactionPosition: 0,
    };
  }

  #transactions(number: number): unknown[] {
    if (this.stateSync !== undefined)
      return [{ hash: hash('5'), from: NOBODY, to: NOBODY, gas: '0x0', value: '0x0', input: '0x' }];
    if (number === this.tracedByTracer) return [PAYMENT];
    if (this.failure !== undefined) return [hash('6')];
    return this.isTooLarge || this.failsAt.get(number) === 'too large' ? [hash('7')] : [];
  }

  #block(number: number | undefined): object | null {
    if (number === undefined || number > this.head) return null;
    return {
      number: `0x${number.toString(16)}`,
      hash: this.#hashOf(number),
      parentHash: this.#hashOf(number - 1),
      timestamp: '0x1',
      difficulty: this.rewardWei === undefined ? '0x0' : '0x1',
      gasUsed: '0x0',
      miner: MINER,
      transactions: this.#transactions(number),
      uncles: [],
      // An unknown member disables the check of the block hash.
      somethingNew: true,
    };
  }
}

describe('PooledSource', () => {
  const stops: (() => Promise<void>)[] = [];
  /** Clock of the source. */
  let nowMs = 0;
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  async function sourceOf(count: number, prepare: (...nodes: ReportedNode[]) => void = () => undefined) {
    const nodes = await Promise.all(Array.from({ length: count }, () => new ReportedNode().start()));
    prepare(...nodes);
    const log: string[] = [];
    const nameOf = (host: string) => `n${nodes.findIndex(({ url }) => url.endsWith(host))}`;
    const observer = {
      answered: () => undefined,
      failed: () => undefined,
      sentInvalidResponse: () => undefined,
      hedged: () => undefined,
      healthChanged: () => undefined,
      traceMethodFound: () => undefined,
      inexactGas: () => undefined,
      headWentBack: () => undefined,
    };
    // Nodes are polled only when a test does it.
    const pool = new NodePool(
      {
        nodes: nodes.map(({ url }) => ({ url })),
        pollIntervalMs: 600_000,
        traceLimits: { checkReceipts: true },
      },
      { observer },
    );
    stops.push(() => pool.stop(), ...nodes.map((node) => () => node.stop()));
    await pool.start();
    const source = new PooledSource(pool, {
      onFailover: (node, what, error) => log.push(`${nameOf(node.client.host)} ${what}: ${error.reason}`),
      nowMs: () => nowMs,
    });
    const poll = () => Promise.all(pool.nodes.map((node) => pool.refresh(node)));
    return { nodes: nodes as [ReportedNode, ReportedNode, ...ReportedNode[]], log, source, poll }; // callers request at least two
  }

  const down = /cannot be reached or closed the connection/;

  it('asks another node for a block whose failed transaction has no error in the traces', async () => {
    const { source, log, nodes } = await sourceOf(2, (first, second) => {
      first.failure = 'hidden';
      second.failure = 'traced';
    });
    const block = await source.block(5);
    expect(block?.traces).toMatchObject([{ error: 'Reverted' }]);
    expect(log).toEqual(['n0 block 5: nonsense']);
    expect(nodes.map(({ askedReceipts }) => askedReceipts)).toEqual([1, 1]);
  });

  it('does not compare a block with receipts that the node does not return, and does not ask again', async () => {
    const { source, log, nodes } = await sourceOf(2, (first) => {
      first.failure = 'hidden';
      first.receipts = 'none';
    });
    for (const number of [5, 6, 7]) expect((await source.block(number))?.traces).toHaveLength(1);
    expect(log).toEqual([]);
    expect(nodes[0].askedReceipts).toBe(1);
  });

  it('fetches a block from another node if one returns a false block, and reports the reason', async () => {
    const { nodes, source, log } = await sourceOf(2);
    await source.block(2);
    nodes[0].lies = true;
    expect((await source.block(3))?.header.number).toBe(3);
    expect(log).toEqual(['n0 block 3: nonsense']);
  });

  it('tries another node if the reward of a mined block differs from the schedule', async () => {
    const { nodes, source, log } = await sourceOf(2);
    nodes[0].rewardWei = 2n * 10n ** 18n;
    nodes[1].rewardWei = 5n * 10n ** 18n;
    expect((await source.block(3))?.traces).toMatchObject([{ action: { value: '0x4563918244f40000' } }]);
    expect(log).toEqual(['n0 block 3: nonsense']);
  });

  it('asks another node for the frames of a state sync, and accepts the block without them if no node has them', async () => {
    const { nodes, source, log } = await sourceOf(2, (...all) => {
      for (const node of all) Object.assign(node, { chainId: 137, stateSync: 'untraced' });
    });
    expect(await source.block(3)).toMatchObject({ header: { transactionHashes: [hash('5')] }, traces: [] });
    expect(nodes.map(({ traced }) => traced.get(3))).toEqual([1, 1]);
    nodes[1].stateSync = 'traced';
    expect((await source.block(3))?.traces).toMatchObject([
      { action: { from: SYSTEM }, transactionHash: hash('5') },
    ]);
    nodes[1].isDown = true;
    expect((await source.block(3))?.traces).toEqual([]);
    expect(log).toEqual(['n1 block 3: unreachable']);
  });

  it.each([
    ['takes old blocks, which the first node cannot trace, from a node that lags far', 'a', hash('a50')],
    ['indexes no block of a node that stopped on another fork long ago', 'b', undefined],
  ])('%s', async (_, fork, expected) => {
    const { source } = await sourceOf(2, (first, second) => {
      Object.assign(first, { head: 400 });
      Object.assign(second, { head: 100, fork });
      for (let number = 1; number < 350; number++) first.failsAt.set(number, 'error');
    });
    for (let round = 0; round < 5; round++, nowMs += 30_000) {
      const block = await source.block(50).catch(() => undefined);
      expect(block?.header.hash).toBe(expected);
    }
  });

  interface Outcome {
    readonly unavailable?: string;
    readonly header?: { readonly hash: Hash };
    readonly message?: string;
  }

  /**
   * Requests a block up to `rounds` times, `apartMs` apart, until it is unavailable. Resolves with the result of the
   * last round.
   */
  async function askRounds(
    source: PooledSource,
    block: number,
    [rounds, apartMs]: readonly [number, number],
  ): Promise<Outcome> {
    let last: Outcome = {};
    for (let round = 0; round < rounds && last.unavailable === undefined; round++, nowMs += apartMs)
      last = (await source.block(block).catch((error: Error) => error)) ?? {};
    return last;
  }

  describe('for a block that nodes fail to trace', () => {
    it.each([
      ['error', 'tracerError'],
      ['lie', 'invalid'],
      ['status', 'timeout'],
      ['too large', 'oversized'],
    ] as const)('returns it as unavailable after three attempts in a minute: %s', async (fails, reason) => {
      const { nodes, source } = await sourceOf(2);
      for (const node of nodes) node.failsAt.set(5, fails);
      expect((await askRounds(source, 5, [3, 20_000])).unavailable).toBeUndefined();
      // The probe for the trace method uses the newest block with transactions; only an oversized block has some
      // here.
      const requests = fails === 'too large' ? 4 : 3;
      for (const node of nodes) expect(node.traced.get(5)).toBe(requests);
      const block = await source.block(5);
      expect(block).toMatchObject({ unavailable: reason, traces: [], header: { hash: hash('a5') } });
      // Counting restarts here.
      await expect(source.block(5)).rejects.toThrow();
      expect((await source.block(6))?.unavailable).toBeUndefined();
    });

    it('does not return it as unavailable after many attempts in less than a minute', async () => {
      const { nodes, source } = await sourceOf(1);
      nodes[0].failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [10, 5_900])).message).toContain('tracing failed');
    });

    it('does not return it as unavailable after two attempts, even far apart', async () => {
      const { nodes, source } = await sourceOf(1);
      nodes[0].failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [2, 3_600_000])).message).toContain('tracing failed');
    });

    it('does not return it as unavailable after attempts more than ten minutes apart', async () => {
      const { nodes, source } = await sourceOf(1);
      nodes[0].failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [6, 601_000])).message).toContain('tracing failed');
    });

    it('does not fetch it by another method of a node that returned wrong traces', async () => {
      const { nodes, source } = await sourceOf(1);
      await source.block(2);
      nodes[0].failsAt.set(5, 'lie');
      nodes[0].tracedByTracer = 5;
      await expect(source.block(5)).rejects.toMatchObject({ reason: 'nonsense' });
    });

    it.each(['error', 'status'] as const)(
      'fetches it by another method of the node if every node failed by its own: %s',
      async (fails) => {
        const { nodes, source, log } = await sourceOf(2);
        // Both nodes are asked for a block first, so that their usual method is known.
        nodes[0].failsAt.set(2, 'error');
        await source.block(2);
        log.length = 0;
        for (const node of nodes) node.failsAt.set(5, fails);
        nodes[1].tracedByTracer = 5;
        expect(await source.block(5)).toMatchObject({ traces: [{ transactionHash: PAYMENT.hash }] });
        expect(log.map((line) => line.split(':')[0])).toEqual(['n0 block 5', 'n1 block 5']);
        expect(nodes.map(({ traced }) => traced.get(5))).toEqual([1, 1]);
      },
    );

    it('fetches it from any node that traces it', async () => {
      const { nodes, source } = await sourceOf(2);
      nodes[0].failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [5, 30_000])).header?.hash).toBe(hash('a5'));
    });

    it.each(['isDown', 'busy'] as const)('never counts attempts at a node that is %s', async (state) => {
      const { nodes, source } = await sourceOf(1);
      if (state === 'isDown') nodes[0].isDown = true;
      else nodes[0].failsAt.set(5, 'busy');
      const last = await askRounds(source, 5, [5, 60_000]);
      expect(last.unavailable).toBeUndefined();
      expect(last.message).toMatch(/cannot be reached|429/);
    });

    it('decides by the reachable nodes only', async () => {
      const { nodes, source } = await sourceOf(2);
      nodes[0].isDown = true;
      nodes[1].failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [4, 30_000])).unavailable).toBe('tracerError');
    });

    it('requires three attempts at every failing node, including one that joined later', async () => {
      const { nodes, source } = await sourceOf(2);
      nodes[0].isDown = true;
      for (const node of nodes) node.failsAt.set(5, 'error');
      expect((await askRounds(source, 5, [2, 30_000])).unavailable).toBeUndefined();
      nodes[0].isDown = false;
      expect((await askRounds(source, 5, [2, 30_000])).unavailable).toBeUndefined();
      expect((await askRounds(source, 5, [1, 30_000])).unavailable).toBe('tracerError');
    });

    it('asks every node for an oversized block, two nodes per round', async () => {
      const { nodes, source } = await sourceOf(3);
      for (const node of nodes) node.failsAt.set(5, 'too large');
      expect((await askRounds(source, 5, [3, 30_000])).unavailable).toBeUndefined();
      expect((await askRounds(source, 5, [5, 30_000])).unavailable).toBe('oversized');
      for (const node of nodes) expect(node.traced.get(5)).toBeGreaterThanOrEqual(3);
    });

    it('does not return it as unavailable while the only node traces no other block', async () => {
      const { nodes, source } = await sourceOf(1);
      await source.block(1);
      for (let block = 0; block <= 10; block++) nodes[0].failsAt.set(block, 'error');
      expect((await askRounds(source, 5, [5, 30_000])).message).toContain('tracing failed');
      nodes[0].failsAt.delete(9);
      expect((await source.block(5))?.unavailable).toBe('tracerError');
    });

    it('ignores a node that traces no other block', async () => {
      const { nodes, source } = await sourceOf(2);
      for (let block = 0; block <= 10; block++) nodes[0].failsAt.set(block, 'error');
      nodes[1].failsAt.set(5, 'lie');
      expect((await askRounds(source, 5, [4, 30_000])).unavailable).toBe('invalid');
    });
  });

  it('asks at most two nodes for a block whose traces are too large', async () => {
    const { nodes, source, log } = await sourceOf(4);
    await source.block(1);
    for (const node of nodes) node.isTooLarge = true;
    await expect(source.block(3)).rejects.toThrow(/more than \d+ bytes/);
    expect(log.filter((line) => line.endsWith('block 3: oversized'))).toHaveLength(2);
  });

  it('fetches a block from another node if one does not have it yet', async () => {
    const { source } = await sourceOf(2, (first) => {
      first.head = 2;
    });
    expect((await source.blockRef(3))?.number).toBe(3);
    expect(await source.blockRef(11)).toBeUndefined();
  });

  it('asks the node with the head first, and follows the head to another node after a poll', async () => {
    const { nodes, source, poll } = await sourceOf(2, (_, second) => {
      if (second) second.head = 12;
    });
    const asked = nodes[0].asked;
    expect((await source.blockRef(12))?.number).toBe(12);
    expect(nodes[0].asked).toBe(asked);
    nodes[0].head = 13;
    await poll();
    const askedSecond = nodes[1].asked;
    expect((await source.blockRef(13))?.number).toBe(13);
    expect(nodes[1].asked).toBe(askedSecond);
  });

  it('rejects with the failure if no node responds', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    for (const node of nodes) node.isDown = true;
    await expect(source.block(3)).rejects.toThrow(down);
    await poll();
    await expect(source.heads()).rejects.toThrow(down);
  });

  it('never uses a node of another chain', async () => {
    const { nodes, source, log } = await sourceOf(2, (_, second) => {
      if (second) Object.assign(second, { chainId: 2, head: 99 });
    });
    expect((await source.heads()).latest.number).toBe(10);
    nodes[0].isDown = true;
    await expect(source.block(3)).rejects.toThrow(down);
    expect(log).toContain('n1 block 3: refused');
  });

  it("verifies a node's chain again after the node was down", async () => {
    const { nodes, source, log } = await sourceOf(2);
    nodes[0].isDown = true;
    nodes[1].isDown = true;
    await expect(source.blockRef(3)).rejects.toThrow(down);
    Object.assign(nodes[1], { isDown: false, chainId: 7 });
    await expect(source.blockRef(3)).rejects.toThrow(down);
    expect(log).toContain('n1 block 3: refused');
  });

  it('keeps the head while only lagging nodes answer, and advances when they have caught up', async () => {
    const { nodes, source, poll } = await sourceOf(2, (_, second) => {
      if (second) second.head = 8;
    });
    expect((await source.heads()).latest.number).toBe(10);
    nodes[0].isDown = true;
    for (let i = 0; i < 3; i++) await poll();
    expect((await source.heads()).latest.number).toBe(10);
    nodes[1].head = 11;
    expect((await source.freshHeads()).latest.number).toBe(11);
  });

  it('follows its node back on a reorganisation', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    nodes[1].isDown = true;
    nodes[0].head = 11;
    for (let i = 0; i < 3; i++) await poll();
    nodes[0].head = 9;
    expect((await source.freshHeads()).latest.number).toBe(9);
  });

  it('stays on one of two forks of equal length', async () => {
    const { nodes, source } = await sourceOf(2, (_, second) => {
      if (second) Object.assign(second, { fork: 'b', head: 11 });
    });
    expect((await source.heads()).latest.hash).toBe(hash('b11'));
    nodes[0].head = 11;
    expect((await source.freshHeads()).latest.hash).toBe(hash('b11'));
    expect((await source.blockRef(11))?.hash).toBe(hash('b11'));
  });

  it('never moves the final block back', async () => {
    const { nodes, source } = await sourceOf(2, (first) => {
      first.finalized = 6;
    });
    expect((await source.heads()).finalized?.number).toBe(6);
    nodes[1].head = 12;
    nodes[1].finalized = 4;
    expect((await source.freshHeads()).finalized?.number).toBe(6);
  });

  it('returns the heads of a single node unchanged, even if its final block goes back', async () => {
    const { nodes, source } = await sourceOf(1, (only) => {
      only.finalized = 6;
    });
    expect((await source.heads()).finalized?.number).toBe(6);
    Object.assign(nodes[0], { head: 8, finalized: 4 });
    const { latest, finalized } = await source.freshHeads();
    expect([latest.number, finalized?.number]).toEqual([8, 4]);
    expect(source.knownHeads).toEqual({ latest, finalized });
  });

  it('returns polled heads without requests, and skips a node that fails polls', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    nodes[0].isDown = true;
    await poll();
    const asked = nodes.map((node) => node.asked);
    await source.heads();
    expect(nodes.map((node) => node.asked)).toEqual(asked);
    await source.block(3);
    expect(nodes[0].asked).toBe(asked[0]);
  });

  it('requests the heads if the last poll failed', async () => {
    const { nodes, source, poll } = await sourceOf(1);
    nodes[0].isDown = true;
    await poll();
    await expect(source.heads()).rejects.toThrow(down);
    Object.assign(nodes[0], { isDown: false, head: 12 });
    expect((await source.heads()).latest.number).toBe(12);
  });
});
