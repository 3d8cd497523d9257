import { Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { Scheduler } from '../../../platform/scheduler/index.ts';
import {
  NoNodeError,
  RateLimitedError,
  type Result,
  type ResultStream,
  RpcError,
} from '../../jsonrpc/index.ts';
import { IndexUnavailableError } from '../../traces/index.ts';
import { DEFAULT_LIMITS } from '../callLimits.ts';
import type { CallContext, Method } from '../method.ts';
import { GatewayMetrics } from '../metrics.ts';
import type { Permit } from './admissionControl.ts';
import { type Admitted, type AnswerSpace, CallsHandler, tableOf } from './callsHandler.ts';

const FREE_BYTES = 16 * 1024;
const STREAM_BYTES = 3 * 1024 * 1024;

interface Setup {
  /** Result of the method `read`, and of the method `send`, which changes state. */
  readonly result?: Result;
  /** Bytes that may still be charged. */
  readonly freeBytes?: number;
  readonly allowed?: readonly string[];
  readonly message?: Admitted['message'];
}

function setUp({ result = Buffer.from('1'), freeBytes = 0, allowed, message }: Setup = {}) {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry);
  const contexts: CallContext[] = [];
  const logged: unknown[][] = [];
  let left = freeBytes;
  let isFinished = false;
  const space: AnswerSpace = {
    get isFinished() {
      return isFinished;
    },
    charge(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    credit: (bytes) => (left += bytes),
    freeConnection: () => undefined,
  };
  const admitted: number[] = [];
  const permit: Permit = {
    admit: (calls) => admitted.push(calls),
    isMethodAllowed: (method) => allowed?.includes(method) ?? true,
    address: () => '192.0.2.1',
    keyId: 'aaaa0001',
    limits: DEFAULT_LIMITS,
    ended: () => undefined,
    credential: undefined,
    watch: () => () => undefined,
    start: () => undefined,
    release: () => undefined,
  };
  const handle: Method['handle'] = (_, context) => {
    contexts.push(context);
    return result;
  };
  const methods: readonly Method[] = [
    { name: 'read', handle },
    { name: 'readLater', handle: async (params, context) => handle(params, context) },
    { name: 'send', changesState: true, handle },
    { name: 'sendLater', changesState: true, handle: async (params, context) => handle(params, context) },
    { name: 'describe', isForEveryKey: true, handle },
    { name: 'path', permissionOf: 'read', handle },
    { name: 'pathOfNothing', permissionOf: 'none', handle },
  ];
  const log = {
    info() {},
    warn: (...line: unknown[]) => logged.push(line),
    error: (...line: unknown[]) => logged.push(line),
  };
  const scheduler = new Scheduler();
  const client = { address: '192.0.2.1' };
  const handler = new CallsHandler(
    1000,
    {
      methods: tableOf('mainnet', methods, metrics),
      permit,
      space,
      turns: { scheduler, client },
      faults: { faultId: () => 'fault-1' },
      ...(message && { message }),
    },
    { metrics, log },
  );
  const limited = async (limit: string): Promise<number | undefined> => {
    const metric = await registry.getSingleMetric('floodgate_gateway_limited_total')?.get();
    return metric?.values.find(({ labels }) => labels['limit'] === limit)?.value;
  };
  const call = async (method: string, mayStream = true) =>
    handler.handle({ id: 1, method, params: [] }, mayStream);
  const disconnect = (): void => {
    isFinished = true;
  };
  return {
    handler,
    call,
    limited,
    logged,
    contexts,
    admitted,
    scheduler,
    client,
    disconnect,
    left: () => left,
  };
}

it('schedules the parts of a long call like other work of its client', async () => {
  const { call, contexts, scheduler, client } = setUp();
  const turn = vi.spyOn(scheduler, 'turn');
  await call('read');
  await contexts[0]?.nextTurn?.();
  expect(turn).toHaveBeenCalledExactlyOnceWith(client);
});

it('calls of a client that has disconnected are run only if they change state', async () => {
  const { call, contexts, disconnect } = setUp();
  disconnect();
  await expect(call('read')).rejects.toThrow('the client has disconnected');
  expect(contexts).toEqual([]);
  await call('send');
  expect(contexts).toHaveLength(1);
});

const LARGE = Buffer.alloc(FREE_BYTES + 1);

describe('the memory of a result', () => {
  it.each(['read', 'readLater'])(
    'above 16 KiB is charged, and rejected without a budget: %s',
    async (method) => {
      const rich = setUp({ result: LARGE, freeBytes: 2 * LARGE.length });
      expect(await rich.call(method)).toBe(LARGE);
      expect(rich.left()).toBe(LARGE.length);
      const poor = setUp({ result: LARGE, freeBytes: LARGE.length - 1 });
      await expect(poor.call(method)).rejects.toThrow(RateLimitedError);
      expect(await poor.limited('unsent_bytes')).toBe(1);
    },
  );

  it('up to 16 KiB is free, so that small results are sent whatever other clients use', async () => {
    const small = Buffer.alloc(FREE_BYTES);
    expect(await setUp({ result: small }).call('read')).toBe(small);
  });

  it.each(['send', 'sendLater'])('of a call that changes state is never rejected: %s', async (method) => {
    const { call, left } = setUp({ result: LARGE });
    expect(await call(method)).toBe(LARGE);
    expect(left()).toBe(0);
  });

  it('of a stream is charged in full, and the stream ends if it is rejected', async () => {
    let aborted = 0;
    const stream: ResultStream = { pipe: () => undefined, resume: () => undefined, abort: () => aborted++ };
    const rich = setUp({ result: stream, freeBytes: STREAM_BYTES });
    expect(await rich.call('read')).toBe(stream);
    expect([rich.left(), aborted]).toEqual([0, 0]);
    await expect(setUp({ result: stream, freeBytes: STREAM_BYTES - 1 }).call('read')).rejects.toThrow(
      RateLimitedError,
    );
    expect(aborted).toBe(1);
  });

  it('in a pooled buffer is charged, and the buffer is released once if it is rejected', async () => {
    let released = 0;
    const pooled: Result = {
      bytes: LARGE,
      freeBytesBefore: 0,
      freeBytesAfter: 0,
      release: () => released++,
    };
    const rich = setUp({ result: pooled, freeBytes: LARGE.length });
    expect(await rich.call('read')).toBe(pooled);
    expect([rich.left(), released]).toEqual([0, 0]);
    await expect(setUp({ result: pooled }).call('read')).rejects.toThrow(RateLimitedError);
    expect(released).toBe(1);
  });

  it('is not counted as limited if the client has disconnected', async () => {
    const { call, limited, disconnect } = setUp({ result: LARGE });
    const called = call('readLater');
    disconnect();
    await expect(called).rejects.toThrow(RateLimitedError);
    expect(await limited('unsent_bytes')).toBe(0);
  });
});

describe('a method', () => {
  it('is supported if it is in the table and the key may call it', () => {
    const { handler } = setUp({ allowed: ['read', 'none', 'path'] });
    const supported = ['read', 'send', 'none', 'describe', 'path'].map((method) => handler.supports(method));
    expect(supported).toEqual([true, false, false, true, false]);
  });

  it('with its own path is allowed with the permission of its row', () => {
    const isAllowed = (allowed?: readonly string[]) => {
      const { handler } = setUp({ ...(allowed && { allowed }) });
      return ['path', 'pathOfNothing', 'read', 'none'].map((method) => handler.isPathAllowed(method));
    };
    expect(isAllowed()).toEqual([true, false, false, false]);
    expect(isAllowed(['read'])).toEqual([true, false, false, false]);
    expect(isAllowed(['path', 'send'])).toEqual([false, false, false, false]);
  });

  it('changes state if its row says so', () => {
    const { handler } = setUp();
    expect(['read', 'send', 'none'].map((method) => handler.changesState(method))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('that is unsupported is counted, and is an error if it is called', async () => {
    const { handler, limited, call } = setUp();
    handler.unsupported();
    expect(await limited('unsupported_method')).toBe(1);
    await expect(call('none')).rejects.toThrow('the gateway does not support this method');
  });
});

describe('the context of a call', () => {
  it('has the client and the address, and a result may be a stream over HTTP', async () => {
    const { call, contexts, handler } = setUp();
    await call('read');
    const [context] = contexts;
    expect([context?.address?.(), context?.keyId, context?.mayStream]).toEqual([
      '192.0.2.1',
      'aaaa0001',
      true,
    ]);
    expect(context).toBe(handler.context);
    expect(handler.errorPerCall).toBe(false);
  });

  it('of a call that must not stream is one of its own', async () => {
    const { call, contexts, handler } = setUp();
    await call('read', false);
    expect(contexts[0]?.mayStream).toBe(false);
    expect(handler.context.mayStream).toBe(true);
  });

  it('of a WebSocket message never allows a stream, and each call gets its own error', () => {
    const afterAnswer = (): void => undefined;
    const { handler } = setUp({ message: { afterAnswer } });
    expect(handler.context).toMatchObject({ mayStream: false, afterAnswer });
    expect(handler.errorPerCall).toBe(true);
  });
});

it('the permit admits the number of calls', () => {
  const { handler, admitted } = setUp();
  handler.admit(7);
  expect(admitted).toEqual([7]);
});

it('an unknown error becomes an internal error with the request id; only the log has its text', () => {
  const { handler, logged } = setUp();
  const error = new Error('secret');
  const fault = handler.fault(error);
  expect(fault).toBeInstanceOf(RpcError);
  expect([fault.code, fault.message]).toEqual([-32603, expect.stringContaining('fault-1')]);
  expect(fault.message).not.toContain('secret');
  expect(logged).toEqual([[{ err: error, requestId: 'fault-1' }, 'request failed: internal error']]);
});

it('an unavailable index is not an internal error, so clients try again', () => {
  const { handler, logged } = setUp();
  const fault = handler.fault(new IndexUnavailableError('the database is gone'));
  expect(fault).toBeInstanceOf(NoNodeError);
  expect(fault).toMatchObject({ status: 503, data: { reason: 'noIndex' } });
  expect(logged).toEqual([[{ reason: 'the database is gone' }, 'index unavailable for a request']]);
  const unproven = Object.assign(new IndexUnavailableError('a row is missing'), { isUnproven: true });
  expect(handler.fault(unproven)).toMatchObject({ code: -32001, data: { reason: 'unproven' } });
});
