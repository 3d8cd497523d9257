import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { neverSent } from '../client/connectionError.ts';
import { NodeClient, type RelayOptions } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { OversizedResponseError } from '../client/requestFault.ts';
import type { NodeBody, PendingResponse } from '../client/responseCollector.ts';
import { UpstreamNode } from '../pool/upstreamNode.ts';
import { SlowTraceError, type TraceRequest, TraceRequests, TraceSlotsError } from './traceRequests.ts';

const A = { address: '192.0.2.1' };
const B = { address: '192.0.2.2' };
const TIMEOUT_MS = 1_000;
const TRANSACTIONS = 3;
const GOOD = '"good"';

/** A trace that a node executes. */
class RunningTrace implements PendingResponse {
  readonly options: RelayOptions;
  readonly body: Promise<NodeBody>;
  isAborted = false;
  #settle: { resolve(body: NodeBody): void; reject(error: Error): void } | undefined;

  constructor(options: RelayOptions) {
    this.options = options;
    this.body = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.body.catch(() => undefined);
  }

  answer(result = GOOD): void {
    const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    this.#settle?.resolve({ kind: 'whole', bytes, status: 200 });
  }

  error(code: number, message: string): void {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }));
    this.#settle?.resolve({ kind: 'whole', bytes, status: 200 });
  }

  fail(error: NodeError): void {
    this.#settle?.reject(error);
  }

  abort(): void {
    this.isAborted = true;
    this.fail(new NodeError('timeout', 'aborted'));
  }
}

class TracingClient extends NodeClient {
  readonly running: RunningTrace[] = [];

  override relay(_body: string, options: RelayOptions): PendingResponse {
    const trace = new RunningTrace(options);
    this.running.push(trace);
    return trace;
  }
}

function tracing(count: number) {
  const clients = Array.from({ length: count }, () => new TracingClient('http://127.0.0.1:1'));
  const nodes = clients.map((client, i) => new UpstreamNode(`node-${i + 1}`, client));
  const blamed: string[] = [];
  const requests = new TraceRequests({
    observer: { answered: () => undefined },
    upstreams: {
      choose: ({ tried }) => nodes.find((node) => !tried.has(node)),
      failedRequest: () => undefined,
      blameNode: ({ name }) => blamed.push(name),
    },
  });
  const charged = { bytes: 0 };
  const request = (more: Partial<TraceRequest> = {}): TraceRequest => ({
    method: 'debug_traceTransaction',
    bodyFor: () => '{}',
    needsBlock: 1,
    client: A,
    timeoutMs: TIMEOUT_MS,
    transactionTimeoutMs: TIMEOUT_MS,
    countTransactions: async () => TRANSACTIONS,
    maxBytes: 1_000,
    streamAboveBytes: undefined,
    room: {
      charge: (bytes) => {
        charged.bytes += bytes;
        return true;
      },
      credit: (bytes) => {
        charged.bytes -= bytes;
      },
      freeConnection: () => undefined,
    },
    isGood: ({ response }) => response.kind === 'result' && response.value === 'good',
    ...more,
  });
  const send = (more?: Partial<TraceRequest>) => requests.send(request(more));
  const runningAt = (i: number): RunningTrace[] => clients[i]?.running ?? [];
  return { send, runningAt, blamed, charged, clients };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('traces at nodes', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('run two for one client and four in all at a node, and clients take turns', async () => {
    const { send, runningAt } = tracing(1);
    const started: string[] = [];
    const all = [A, A, A, A, B, B, B, { address: '192.0.2.3' }].map((client, i) =>
      send({ client, bodyFor: () => started.push(`${client.address} ${i}`).toString() }),
    );
    await settle();
    expect(started).toEqual(['192.0.2.1 0', '192.0.2.1 1', '192.0.2.2 4', '192.0.2.2 5']);
    runningAt(0)[0]?.answer();
    await settle();
    expect(started[4]).toBe('192.0.2.1 2');
    runningAt(0)[2]?.answer();
    await settle();
    expect(started[5]).toBe('192.0.2.2 6');
    runningAt(0)[1]?.answer();
    await settle();
    expect(started[6]).toBe('192.0.2.3 7');
    for (let i = 0; i < all.length; i++) {
      runningAt(0)[i]?.answer();
      await settle();
    }
    expect(await Promise.all(all)).toHaveLength(8);
  });

  it('fail without a request if no node is available', async () => {
    const failure = await tracing(0)
      .send()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NodeError);
    expect(neverSent(failure as NodeError)).toBe(true);
  });

  it('use a second node whose slots are free', async () => {
    const { send, runningAt } = tracing(2);
    const all = [1, 2, 3, 4].map(() => send());
    await settle();
    expect([runningAt(0).length, runningAt(1).length]).toEqual([2, 2]);
    for (const trace of [...runningAt(0), ...runningAt(1)]) trace.answer();
    await Promise.all(all);
  });

  it('keep their slot after the timeout until the node has answered', async () => {
    const { send, runningAt, charged } = tracing(1);
    const late = [send(), send()].map((sent) => sent.catch((error: unknown) => error));
    const waiting = send({ timeoutMs: 2 * TIMEOUT_MS });
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(SlowTraceError);
    const [first] = runningAt(0);
    expect(runningAt(0)).toHaveLength(2);
    expect(first?.options.reservation?.charge(1)).toBe(false);
    expect(first?.isAborted).toBe(false);
    first?.answer();
    await settle();
    expect(runningAt(0)).toHaveLength(3);
    runningAt(0)[2]?.answer();
    await waiting;
    expect(charged.bytes).toBe(0);
  });

  it('lose their slot when all transactions of the block must have ended', async () => {
    const { send, runningAt } = tracing(1);
    const late = send().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    const error = await late;
    const released = vi.fn();
    void (error as SlowTraceError).released.then(released);
    await vi.advanceTimersByTimeAsync((TRANSACTIONS - 1) * TIMEOUT_MS - 1);
    expect([runningAt(0)[0]?.isAborted, released.mock.calls.length]).toEqual([false, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect([runningAt(0)[0]?.isAborted, released.mock.calls.length]).toEqual([true, 1]);
  });

  it('fail if no slot becomes free in time, or if too many wait', async () => {
    const { send, runningAt } = tracing(1);
    const running = [send({ timeoutMs: 10 * TIMEOUT_MS }), send({ timeoutMs: 10 * TIMEOUT_MS })];
    const waiting = Array.from({ length: 64 }, () => send().catch((error: unknown) => error));
    await expect(send()).rejects.toBeInstanceOf(TraceSlotsError);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(TraceSlotsError);
    for (const trace of runningAt(0)) trace.answer();
    await Promise.all(running);
    const next = send();
    await settle();
    runningAt(0)[2]?.answer();
    expect(await next).toMatchObject({ response: { value: 'good' } });
  });

  it('are retried at one other node at most', async () => {
    const { send, runningAt, blamed } = tracing(3);
    const sent = send();
    await settle();
    runningAt(0)[0]?.error(-32_603, 'oops');
    await settle();
    runningAt(1)[0]?.fail(new NodeError('unreachable', 'broke off'));
    expect(await sent).toMatchObject({ response: { code: -32_603 } });
    expect(runningAt(2)).toHaveLength(0);
    expect(blamed).toEqual([]);
  });

  it('skip nodes without the method', async () => {
    const { send, runningAt } = tracing(4);
    const sent = send();
    for (const i of [0, 1, 2]) {
      await settle();
      runningAt(i)[0]?.error(-32_601, 'the method does not exist');
    }
    await settle();
    runningAt(3)[0]?.answer();
    expect(await sent).toMatchObject({ node: { name: 'node-4' }, response: { value: 'good' } });
  });

  it('return a doubtful result if the second node has none', async () => {
    const { send, runningAt } = tracing(2);
    const sent = send();
    await settle();
    runningAt(0)[0]?.answer('"doubtful"');
    await settle();
    runningAt(1)[0]?.error(-32_000, 'missing trie node');
    expect(await sent).toMatchObject({ node: { name: 'node-1' }, response: { value: 'doubtful' } });
  });

  it('are not sent to a second node if the result is too large', async () => {
    const { send, runningAt } = tracing(2);
    const sent = send().catch((error: unknown) => error);
    await settle();
    runningAt(0)[0]?.fail(new OversizedResponseError('node-1', 1_000));
    expect(await sent).toMatchObject({ cause: { maxBytes: 1_000 }, isFinal: true });
    expect(runningAt(1)).toHaveLength(0);
  });
});
