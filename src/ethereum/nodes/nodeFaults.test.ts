import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { notSent } from './client/connectionError.ts';
import { FailedRequestError } from './client/failedRequest.ts';
import type { NodeLimits } from './client/nodeBudget.ts';
import { type CallOptions, NodeClient, type RelayOptions } from './client/nodeClient.ts';
import { NodeError } from './client/nodeError.ts';
import type { UpstreamResponse } from './client/readResponse.ts';
import { SlowRequestError } from './client/requestFault.ts';
import type { PendingResponse } from './client/responseCollector.ts';
import type { NodeCall, RpcResponse } from './client/rpcResponse.ts';
import type { OversizeBlame, ResponseClass, UpstreamRequest } from './client/upstreamRequest.ts';
import { BudgetExceededError } from './dispatch/fairQueue.ts';
import { NodePool } from './pool/nodePool.ts';

/** Behaviour of a node for a request. `late`: a JSON-RPC error after a second of work. */
const FAULTS = ['internal', 'cut', 'status', 'garbage', 'false'] as const;
type Fault = (typeof FAULTS)[number];
type Deed = Fault | 'answers' | 'silent' | 'late';

const TIMEOUT_MS = 40;
const LATE_MS = 1_050;
/** Uses the current clock, which may be a fake one. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hex = (number: number): string => `0x${number.toString(16)}`;
const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

/** A node with scripted faults that no real node can produce on demand: false results, broken connections, silence. */
class ReportedClient extends NodeClient {
  head = 10;
  isAway = false;
  asked = 0;
  deeds: (body: string) => Deed = () => 'answers';

  override async batch(calls: readonly NodeCall[], _options?: CallOptions): Promise<RpcResponse[]> {
    if (this.isAway) throw notSent(new NodeError('unreachable', 'away'));
    return calls.map(([method, which]) => {
      if (method === 'eth_chainId') return { result: '0x1' };
      if (method !== 'eth_getBlockByNumber') return { result: '0x0' };
      const number = which === 'latest' ? this.head : which === '0x0' ? 0 : undefined;
      return { result: number === undefined ? null : blockOf(number) };
    });
  }

  override relay(body: string, { timeoutMs }: RelayOptions): PendingResponse {
    this.asked++;
    this.budget?.takeCalls(1);
    return { body: this.#bodyOf(body, timeoutMs), abort: () => undefined };
  }

  async #bodyOf(body: string, timeoutMs: number): ReturnType<() => PendingResponse['body']> {
    if (this.isAway) throw notSent(new NodeError('unreachable', 'away'));
    const reported = (text: string) => ({ kind: 'whole' as const, bytes: Buffer.from(text), status: 200 });
    const { needs } = JSON.parse(body) as { needs: number }; // this test wrote it
    if (needs > this.head) return reported('{"id":1,"error":{"code":-32000,"message":"header not found"}}');
    const deed = this.deeds(body);
    if (deed === 'late') await pause(LATE_MS);
    if (deed === 'internal' || deed === 'late')
      return reported('{"id":1,"error":{"code":-32603,"message":"oops"}}');
    if (deed === 'cut') throw new NodeError('unreachable', 'broke off');
    if (deed === 'status') throw new NodeError('refused', 'HTTP status 502');
    if (deed === 'garbage') return reported('<html>');
    if (deed === 'false') return reported('{"jsonrpc":"2.0","id":1,"result":"false"}');
    if (deed === 'answers') return reported('{"jsonrpc":"2.0","id":1,"result":"true"}');
    await pause(timeoutMs);
    throw new NodeError('timeout', 'silent');
  }
}

const blockOf = (number: number): object => ({
  number: hex(number),
  hash: hashOf(number),
  parentHash: hashOf(Math.max(0, number - 1)),
  timestamp: '0x1',
  gasUsed: '0x0',
  // An unknown member disables the check of the block hash.
  somethingNew: true,
});

function classify(response: UpstreamResponse): ResponseClass {
  if (response.kind === 'error') return 'elsewhere';
  return response.value === 'true' ? 'good' : { invalid: 'it is false' };
}

describe('nodes with faults', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    vi.useRealTimers();
    for (const stop of stops.splice(0)) await stop();
  });

  async function poolOf(count: number, nodeWaitMs = 0, limits: NodeLimits = {}) {
    const clients: ReportedClient[] = [];
    const quarantined: string[] = [];
    const ignored = () => undefined;
    const pool = new NodePool(
      {
        nodes: Array.from({ length: count }, () => ({ url: 'http://127.0.0.1:1', ...limits })),
        pollIntervalMs: 600_000,
        nodeWaitMs,
      },
      {
        observer: {
          answered: ignored,
          failed: ignored,
          sentInvalidResponse: ({ name }) => quarantined.push(name),
          hedged: ignored,
          healthChanged: ignored,
          traceMethodFound: ignored,
          inexactGas: ignored,
          headWentBack: ignored,
        },
        connect({ url }, budget) {
          const client = new ReportedClient(url, { budget });
          clients.push(client);
          return client;
        },
      },
    );
    stops.push(() => pool.stop());
    await pool.start();
    const requestOf = (options: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
      method: 'eth_call',
      body: JSON.stringify({ needs: options.needsBlock ?? 0 }),
      bodyByHash: undefined,
      needsBlock: undefined,
      once: false,
      mayStream: false,
      timeoutMs: 60_000,
      maxBytes: 1_000_000,
      oversizeBlame: 'request' as OversizeBlame,
      failedBefore: undefined,
      reservation: undefined,
      classify,
      ...options,
    });
    const ask = (options?: Partial<UpstreamRequest>) => pool.ask(requestOf(options));
    /** Sends the request to a node other than the first. */
    const askAnother = (options?: Partial<UpstreamRequest>) => {
      const [first] = pool.nodes;
      if (first === undefined) throw new Error('there is a first node');
      return pool.requests.sendToOther(requestOf(options), first);
    };
    return {
      pool,
      clients,
      quarantined,
      ask,
      askAnother,
      healths: () => pool.nodes.map(({ health }) => health),
    };
  }

  const fault = fc.constantFrom<Deed>(...FAULTS);

  it('faults of other nodes do not reach clients while one node works, for any polled heads', async () => {
    const step = fc.record({
      grows: fc.boolean(),
      polled: fc.nat(2),
      deeds: fc.tuple(fc.oneof(fault, fc.constant<Deed>('answers')), fault),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.array(step, { minLength: 1, maxLength: 12 }), async (well, steps) => {
        const { pool, clients, ask } = await poolOf(3);
        const others = clients.filter((_, i) => i !== well);
        for (const { grows, polled, deeds } of steps) {
          for (const client of clients) client.head += grows ? 1 : 0;
          for (const [i, client] of others.entries()) client.deeds = () => deeds[i] ?? 'answers';
          const node = pool.nodes[polled];
          if (node !== undefined) await pool.refresh(node);
          const needsBlock = pool.heads.latest?.number ?? 0;
          const answer = await ask({ needsBlock });
          expect('response' in answer && answer.response).toMatchObject({ kind: 'result', value: 'true' });
        }
        await pool.stop();
      }),
      { numRuns: 150 },
    );
  });

  it('a request that fails in the same way at every node takes no node out of rotation', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.constantFrom<Deed>(...FAULTS, 'silent'), { minLength: 1, maxLength: 8 }),
        async (count, deeds) => {
          const { pool, clients, quarantined, ask, healths } = await poolOf(count);
          for (const deed of deeds) {
            for (const client of clients) client.deeds = () => deed;
            for (let i = 0; i < 4; i++) {
              const fails = ask({ timeoutMs: deed === 'silent' ? TIMEOUT_MS : 60_000 });
              const answer = await fails.catch((error: unknown) => error);
              if (deed === 'internal') expect(answer).toMatchObject({ response: { code: -32603 } });
              else expect(answer).toBeInstanceOf(NodeError);
            }
          }
          expect(healths()).toEqual(clients.map(() => 'healthy'));
          expect(quarantined).toEqual([]);
          for (const client of clients) client.deeds = () => 'answers';
          expect(await ask()).toMatchObject({ response: { value: 'true' } });
          await pool.stop();
        },
      ),
      { numRuns: 20 },
    );
  });

  it('a request that another node answers counts against the nodes that failed it', async () => {
    for (const deed of FAULTS) {
      const { pool, clients, ask, healths } = await poolOf(2);
      const [[bad], [node]] = [clients, pool.nodes];
      if (bad === undefined || node === undefined) throw new Error('two nodes were asked for');
      bad.deeds = () => deed;
      for (let i = 0; i < 50 && healths()[0] === 'healthy'; i++) {
        // Make it the faster node, so that it is tried first.
        for (let polls = 0; polls < 100; polls++) node.recordLatency(0);
        await ask();
      }
      // A JSON-RPC error may be caused by the request, so it does not affect the node's health.
      expect([deed, healths()[0]]).toEqual([
        deed,
        deed === 'internal' ? 'healthy' : deed === 'false' ? 'quarantined' : 'failing',
      ]);
    }
  });

  it('a request that times out at two nodes fails by its own fault and is not sent to a third', async () => {
    const { clients, ask, healths } = await poolOf(4);
    for (const client of clients) client.deeds = () => 'silent';
    // On a busy machine both timers may fire before a second node is tried.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const failed = ask({ timeoutMs: 1_500 }).catch((failure: unknown) => failure);
    await vi.advanceTimersByTimeAsync(1_500);
    const error = await failed;
    expect(error).toBeInstanceOf(FailedRequestError);
    expect((error as FailedRequestError).cause).toBeInstanceOf(SlowRequestError);
    expect(clients.map(({ asked }) => asked).filter((asked) => asked > 0)).toEqual([1, 1]);
    expect(healths()).toEqual(clients.map(() => 'healthy'));
  });

  it('a request that fails slowly at two nodes is not sent to all nodes', async () => {
    const { clients, ask } = await poolOf(4);
    for (const client of clients) client.deeds = () => 'late';
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const answer = ask();
    await vi.advanceTimersByTimeAsync(3 * LATE_MS);
    expect(await answer).toMatchObject({ response: { kind: 'error' } });
    expect(clients.reduce((sum, { asked }) => sum + asked, 0)).toBe(2);
  });

  it('two silent nodes do not keep a slow request from the third node', async () => {
    const { pool, clients, ask } = await poolOf(3);
    const [first, second] = clients;
    for (const client of [first, second]) if (client !== undefined) client.deeds = () => 'silent';
    const answer = ask();
    while (clients.filter(({ asked }) => asked > 0).length < 2) await pause(5);
    // Polls detect the failure in the meantime.
    for (const [i, node] of pool.nodes.entries())
      if (clients[i]?.deeds('') === 'silent')
        pool.requests.failed(node, 'poll', notSent(new NodeError('unreachable', 'away')));
    expect(await answer).toMatchObject({ response: { value: 'true' } });
  });

  it('requests wait for a node to recover if all are down, including requests that are sent only once', async () => {
    const { clients, ask } = await poolOf(2, 600_000);
    for (const client of clients) client.isAway = true;
    const asked = [ask(), ask({ once: true }), ask({ needsBlock: 10 })];
    while (clients.every((client) => client.asked === 0)) await pause(5);
    for (const client of clients) client.isAway = false;
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ response: { value: 'true' } });
  });

  it('requests fail if no node recovers in time, or if too many requests wait', async () => {
    const { clients, ask } = await poolOf(1, 50);
    for (const client of clients) client.isAway = true;
    await expect(ask()).rejects.toThrow(NodeError);
    const MAX_WAITING = 1_024;
    const { clients: others, ask: askOthers, pool } = await poolOf(1, 600_000);
    for (const client of others) client.isAway = true;
    let failed = 0;
    const many = Array.from({ length: MAX_WAITING + 10 }, () =>
      askOthers().catch(() => {
        failed++;
      }),
    );
    while (failed < 10) await pause(5);
    for (const client of others) client.isAway = false;
    for (const node of pool.nodes) await pool.refresh(node);
    await Promise.all(many);
    expect(failed).toBe(10);
  });

  it("calls beyond one node's budget go to another node, and calls beyond all budgets are rejected", async () => {
    const { pool, clients, ask } = await poolOf(2, 0, { callsPerSecond: 20 });
    const startMs = performance.now();
    let answered = 0;
    let error: unknown;
    while (error === undefined)
      await ask().then(
        () => answered++,
        (failure: unknown) => {
          error = failure;
        },
      );
    expect(error).toBeInstanceOf(BudgetExceededError);
    const seconds = (performance.now() - startMs) / 1_000;
    for (const { asked } of clients) expect(asked).toBeLessThanOrEqual(20 * (1 + seconds));
    expect(answered).toBeGreaterThan(20);
    expect(pool.nodes.map(({ health }) => health)).toEqual(['healthy', 'healthy']);
  });

  it('askAnother sends to one other healthy node and never to a third, for any result', async () => {
    for (const deed of ['answers', 'internal', 'garbage', 'false'] as const) {
      const { clients, askAnother } = await poolOf(4);
      for (const client of clients) client.deeds = () => deed;
      await askAnother().catch((error: unknown) => expect(error).toBeInstanceOf(NodeError));
      expect(clients.map(({ asked }) => asked).sort()).toEqual([0, 0, 0, 1]);
      expect(clients[0]?.asked).toBe(0);
    }
  });

  it('askAnother uses a lagging node, but no unhealthy or drained one', async () => {
    const { pool, clients, askAnother } = await poolOf(3);
    const [first, second, third] = pool.nodes;
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('there are three');
    for (const client of clients) client.head = 11;
    for (const node of [first, second]) await pool.refresh(node);
    pool.drain(second);
    // The fake fails for a block that it does not have.
    expect(await askAnother({ needsBlock: 11, body: '{"needs":0}' })).toMatchObject({ node: third });
    pool.drain(third);
    expect(await askAnother()).toBeUndefined();
  });

  it('askAnother leaves the budget share of polls and ingest', async () => {
    const { clients, askAnother } = await poolOf(2, 0, { callsPerSecond: 20 });
    const startMs = performance.now();
    while ((await askAnother()) !== undefined);
    const seconds = (performance.now() - startMs) / 1_000;
    expect(clients[0]?.asked).toBe(0);
    expect(clients[1]?.asked).toBeGreaterThan(5);
    expect(clients[1]?.asked).toBeLessThanOrEqual(0.8 * 20 + 20 * seconds);
  });

  it('a drained node receives no requests until it is resumed, and the last node cannot be drained', async () => {
    const { pool, clients, ask, healths } = await poolOf(2);
    const [[first, second], [client]] = [pool.nodes, clients];
    if (first === undefined || second === undefined || client === undefined) throw new Error('there are two');
    expect(pool.drain(first)).toBe(true);
    const before = client.asked;
    for (let i = 0; i < 20; i++) await ask();
    await pool.refresh(first);
    expect([client.asked, ...healths()]).toEqual([before, 'drained', 'healthy']);
    expect(pool.ingestOrder()).toEqual([second]);
    expect(pool.drain(second)).toBe(false);
    await pool.resume(first);
    expect(healths()).toEqual(['healthy', 'healthy']);
  });

  it('a node whose request by ingest timed out is tried last for five minutes, although it answers polls', async () => {
    const { pool } = await poolOf(2);
    const [first, second] = pool.nodes;
    if (first === undefined || second === undefined) throw new Error('there are two');
    let nowMs = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const failing = (reason: NodeError['reason']) =>
      pool.take(first, () => Promise.reject(new NodeError(reason, 'no block'))).catch(() => undefined);
    await failing('refused');
    expect(pool.ingestOrder()).toEqual([first, second]);
    await failing('timeout');
    await pool.refresh(first);
    expect(pool.ingestOrder()).toEqual([second, first]);
    nowMs += 300_000;
    expect(pool.ingestOrder()).toEqual([first, second]);
    clock.mockRestore();
  });
});
