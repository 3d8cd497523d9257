import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PendingAnswer } from './answerCollector.ts';
import { notSent } from './connectionError.ts';
import { FailedRequestError } from './failedRequest.ts';
import { BudgetExceededError } from './fairTurns.ts';
import type { NodeLimits } from './nodeBudget.ts';
import { type CallOptions, NodeClient, type RelayOptions } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { NodePool } from './nodePool.ts';
import type { UpstreamResponse } from './readResponse.ts';
import { SlowRequestError } from './requestFault.ts';
import type { NodeCall, RpcResponse } from './rpcResponse.ts';
import type { FaultOfSize, ResponseClass, UpstreamRequest } from './upstreamRequest.ts';

/** What a node does with a request; `late` is an error of its own after a second's work. */
const FAULTS = ['internal', 'cut', 'status', 'garbage', 'false'] as const;
type Fault = (typeof FAULTS)[number];
type Deed = Fault | 'answers' | 'silent' | 'late';

const TIMEOUT_MS = 40;
const LATE_MS = 1_050;
/** Of the clock that is now, which may be a test's own. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hex = (number: number): string => `0x${number.toString(16)}`;
const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

/** A node that does what it is told, which no real one can be: it lies, breaks off, and falls silent by the request. */
class ToldClient extends NodeClient {
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

  override relay(body: string, { timeoutMs }: RelayOptions): PendingAnswer {
    this.asked++;
    this.budget?.takeCalls(1);
    return { body: this.#bodyOf(body, timeoutMs), abort: () => undefined };
  }

  async #bodyOf(body: string, timeoutMs: number): ReturnType<() => PendingAnswer['body']> {
    if (this.isAway) throw notSent(new NodeError('unreachable', 'away'));
    const told = (text: string) => ({ kind: 'whole' as const, bytes: Buffer.from(text), status: 200 });
    const { needs } = JSON.parse(body) as { needs: number }; // this test wrote it
    if (needs > this.head) return told('{"id":1,"error":{"code":-32000,"message":"header not found"}}');
    const deed = this.deeds(body);
    if (deed === 'late') await pause(LATE_MS);
    if (deed === 'internal' || deed === 'late')
      return told('{"id":1,"error":{"code":-32603,"message":"oops"}}');
    if (deed === 'cut') throw new NodeError('unreachable', 'broke off');
    if (deed === 'status') throw new NodeError('refused', 'HTTP status 502');
    if (deed === 'garbage') return told('<html>');
    if (deed === 'false') return told('{"jsonrpc":"2.0","id":1,"result":"false"}');
    if (deed === 'answers') return told('{"jsonrpc":"2.0","id":1,"result":"true"}');
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
  // Its hash is not checked: what is hashed of it is not known.
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
    const clients: ToldClient[] = [];
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
          headWentBack: ignored,
        },
        connect({ url }, budget) {
          const client = new ToldClient(url, budget);
          clients.push(client);
          return client;
        },
      },
    );
    stops.push(() => pool.stop());
    await pool.start();
    const ask = (options: Partial<UpstreamRequest> = {}) =>
      pool.ask({
        method: 'eth_call',
        body: JSON.stringify({ needs: options.needsBlock ?? 0 }),
        bodyByHash: undefined,
        needsBlock: undefined,
        once: false,
        mayStream: false,
        timeoutMs: 60_000,
        maxBytes: 1_000_000,
        faultOfSize: 'request' as FaultOfSize,
        failedBefore: undefined,
        room: undefined,
        classify,
        ...options,
      });
    return { pool, clients, quarantined, ask, healths: () => pool.nodes.map(({ health }) => health) };
  }

  const fault = fc.constantFrom<Deed>(...FAULTS);

  it('no fault of the others reaches a client while one node answers, at whatever head each was polled last', async () => {
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

  it('what every node fares the same with takes none of them out of rotation', async () => {
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

  it('what another node answers is held against those that did not', async () => {
    for (const deed of FAULTS) {
      const { pool, clients, ask, healths } = await poolOf(2);
      const [[bad], [node]] = [clients, pool.nodes];
      if (bad === undefined || node === undefined) throw new Error('two nodes were asked for');
      bad.deeds = () => deed;
      for (let i = 0; i < 50 && healths()[0] === 'healthy'; i++) {
        // The faster of the two, so that it is asked first.
        for (let polls = 0; polls < 100; polls++) node.slow(0);
        await ask();
      }
      // An error of its own may be of what was asked: it says nothing of the node's health.
      expect([deed, healths()[0]]).toEqual([
        deed,
        deed === 'internal' ? 'healthy' : deed === 'false' ? 'quarantined' : 'failing',
      ]);
    }
  });

  it('what is silent at two nodes is the request’s: it is told so, and no third is asked', async () => {
    const { clients, ask, healths } = await poolOf(4);
    for (const client of clients) client.deeds = () => 'silent';
    // A busy machine may let both times pass at once, before a second node is asked.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const failed = ask({ timeoutMs: 1_500 }).catch((failure: unknown) => failure);
    await vi.advanceTimersByTimeAsync(1_500);
    const error = await failed;
    expect(error).toBeInstanceOf(FailedRequestError);
    expect((error as FailedRequestError).cause).toBeInstanceOf(SlowRequestError);
    expect(clients.map(({ asked }) => asked).filter((asked) => asked > 0)).toEqual([1, 1]);
    expect(healths()).toEqual(clients.map(() => 'healthy'));
  });

  it('what two nodes work for a second on in vain is not asked of all', async () => {
    const { clients, ask } = await poolOf(4);
    for (const client of clients) client.deeds = () => 'late';
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const answer = ask();
    await vi.advanceTimersByTimeAsync(3 * LATE_MS);
    expect(await answer).toMatchObject({ response: { kind: 'error' } });
    expect(clients.reduce((sum, { asked }) => sum + asked, 0)).toBe(2);
  });

  it('two nodes that fell silent do not keep a slow method from the third', async () => {
    const { pool, clients, ask } = await poolOf(3);
    const [first, second] = clients;
    for (const client of [first, second]) if (client !== undefined) client.deeds = () => 'silent';
    const answer = ask();
    while (clients.filter(({ asked }) => asked > 0).length < 2) await pause(5);
    // Polls find out meanwhile.
    for (const [i, node] of pool.nodes.entries())
      if (clients[i]?.deeds('') === 'silent')
        pool.requests.failed(node, 'poll', notSent(new NodeError('unreachable', 'away')));
    expect(await answer).toMatchObject({ response: { value: 'true' } });
  });

  it('where all are away a request waits for one to come back, and what is carried out once too', async () => {
    const { clients, ask } = await poolOf(2, 600_000);
    for (const client of clients) client.isAway = true;
    const asked = [ask(), ask({ once: true }), ask({ needsBlock: 10 })];
    while (clients.every((client) => client.asked === 0)) await pause(5);
    for (const client of clients) client.isAway = false;
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ response: { value: 'true' } });
  });

  it('where none comes back within the time it fails, and where too many wait at once', async () => {
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

  it('what exceeds the budget of one goes to another, and what nobody may take is refused', async () => {
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

  it('one that is set aside is asked nothing until it is put back, and the last one stays', async () => {
    const { pool, clients, ask, healths } = await poolOf(2);
    const [[first, second], [client]] = [pool.nodes, clients];
    if (first === undefined || second === undefined || client === undefined) throw new Error('there are two');
    expect(pool.drain(first)).toBe(true);
    const before = client.asked;
    for (let i = 0; i < 20; i++) await ask();
    await pool.refresh(first);
    expect([client.asked, ...healths()]).toEqual([before, 'drained', 'healthy']);
    expect(pool.inOrderFor()).toEqual([second]);
    expect(pool.drain(second)).toBe(false);
    await pool.resume(first);
    expect(healths()).toEqual(['healthy', 'healthy']);
  });
});
