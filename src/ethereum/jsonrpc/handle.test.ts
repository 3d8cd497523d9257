import { describe, expect, it } from 'vitest';
import { type CallHandler, NotYetAdmitted } from './callHandler.ts';
import { NoNodeError, RateLimitedError, RpcError } from './errors.ts';
import { handleBody } from './handle.ts';

const MAX_BATCH_BYTES = 1_000;

/** Fake handler: `large` returns the maximum size of a batch, `send` changes state, `busy` exceeds a rate. */
function handler(): CallHandler & { readonly sent: number } {
  const state = { sent: 0 };
  return {
    get sent() {
      return state.sent;
    },
    maxBatchBytes: MAX_BATCH_BYTES,
    admit: () => undefined,
    supports: () => true,
    unsupported: () => undefined,
    inTurn: (work) => work(),
    changesState: (method) => method === 'send',
    async handle({ method }) {
      if (method === 'busy') throw new RateLimitedError('no room', 1);
      if (method === 'large') return Buffer.alloc(MAX_BATCH_BYTES, '1');
      state.sent++;
      return Buffer.from('"0x1"');
    },
    fault: () => new RpcError('internalError', 'a fault'),
  };
}

const ask = (known: CallHandler, body: unknown) => askText(known, JSON.stringify(body));

async function askText(known: CallHandler, text: string) {
  const answer = await handleBody(Buffer.from(text), known);
  const bytes = Buffer.concat(answer.parts.map((part) => Buffer.from(part as string))); // Buffer.from accepts bytes as well
  return { ...answer, json: JSON.parse(bytes.toString()) };
}

const call = (method: string, id: number) => ({ jsonrpc: '2.0', id, method });

describe('handleBody', () => {
  it('does not change state if the batch has no budget for the response', async () => {
    const known = handler();
    // Eight entries run concurrently, so the first response precedes the ninth call.
    const batch = [...Array.from({ length: 8 }, (_, id) => call('large', id)), call('send', 8)];
    const { json } = await ask(known, batch);
    expect(json[8].error).toMatchObject({ code: -32005, data: { limit: MAX_BATCH_BYTES } });
    expect(known.sent).toBe(0);
  });

  it('returns the result of a state-changing call, whatever the size of the other responses in the batch', async () => {
    const known = handler();
    const { json } = await ask(known, [call('large', 0), call('send', 1), call('large', 2)]);
    expect(json[1].result).toBe('0x1');
    expect(json.map((entry: { error?: { code: number } }) => entry.error?.code)).toEqual([
      -32005,
      undefined,
      -32005,
    ]);
    expect(known.sent).toBe(1);
  });

  it('rejects a body with too many values before it is parsed', async () => {
    const params = (count: number): string =>
      JSON.stringify({ ...call('any', 1), params: [Array(count).fill(1)] });
    expect((await askText(handler(), params(29_990))).json).toMatchObject({ id: 1, result: '0x1' });
    // Two of them are not JSON.
    for (const text of [
      params(30_001),
      '['.repeat(30_001),
      '{"a":'.repeat(30_001),
      `[${'[],'.repeat(600_000)}[]]`,
    ])
      expect((await askText(handler(), text)).json).toMatchObject({
        id: null,
        error: { code: -32005, data: { limit: 30_000 } },
      });
  });

  it('runs each call of a batch in a turn', async () => {
    let turns = 0;
    const known: CallHandler = {
      ...handler(),
      inTurn(work) {
        turns++;
        return Promise.resolve().then(work);
      },
    };
    await ask(
      known,
      Array.from({ length: 100 }, (_, id) => call('any', id)),
    );
    expect(turns).toBe(100);
  });

  it('rejects a single call above a rate with status 429, and a batch entry with an error', async () => {
    expect(await ask(handler(), call('busy', 7))).toMatchObject({
      status: 429,
      retryAfterSeconds: 1,
      json: { id: 7, error: { code: -32005 } },
    });
    expect(await ask(handler(), [call('busy', 7)])).toMatchObject({
      status: 200,
      json: [{ id: 7, error: { code: -32005 } }],
    });
  });

  it.each([
    { what: 'a single call', body: call('none', 1), status: 403, looked: 1 },
    {
      what: 'a batch of unsupported methods',
      body: [call('none', 1), call('none', 2)],
      status: 403,
      looked: 2,
    },
    { what: 'a batch with a bad entry', body: [call('none', 1), 7], status: 403, looked: 1 },
    {
      what: 'a batch with a supported method',
      body: [call('none', 1), call('send', 2)],
      status: 200,
      looked: 2,
    },
    { what: 'a batch of bad entries', body: [7, 7], status: 200, looked: 0 },
  ])(
    'looks up each method once and responds with status $status to $what',
    async ({ body, status, looked }) => {
      let lookups = 0;
      const known: CallHandler = {
        ...handler(),
        supports(method) {
          lookups++;
          return method !== 'none';
        },
      };
      expect((await ask(known, body)).status).toBe(status);
      expect(lookups).toBe(looked);
    },
  );

  it.each([
    { what: 'a single call', body: call('large', 1), status: 429, errors: 1 },
    { what: 'a batch', body: [call('large', 1), call('large', 2)], status: 429, errors: 2 },
  ])('returns one error per call of a rejected message: $what', async ({ body, status, errors }) => {
    const known: CallHandler = {
      ...handler(),
      errorPerCall: true,
      admit() {
        throw new RateLimitedError('too many calls', 1);
      },
    };
    const answer = await ask(known, body);
    expect(answer.status).toBe(status);
    expect([answer.json].flat().filter(({ error }) => error.code === -32005)).toHaveLength(errors);
  });

  it('retries admission after a pending decision', async () => {
    let asked = 0;
    const known: CallHandler = {
      ...handler(),
      admit(calls) {
        expect(calls).toBe(2);
        if (asked++ === 0) throw new NotYetAdmitted(Promise.resolve());
      },
    };
    expect((await ask(known, [call('send', 1), call('send', 2)])).json).toHaveLength(2);
    expect(asked).toBe(2);
  });

  it('admits an unsupported call like any other: a burst of three admits three calls, and the next is rejected', async () => {
    const bucket = { tokens: 3 };
    const known: CallHandler = {
      ...handler(),
      supports: () => false,
      admit(calls) {
        if (bucket.tokens < calls) throw new RateLimitedError('too many calls', 1);
        bucket.tokens -= calls;
      },
    };
    const statuses: number[] = [];
    for (let id = 0; id < 4; id++) statuses.push((await ask(known, call('none', id))).status);
    expect(statuses).toEqual([403, 403, 403, 429]);
    bucket.tokens = 3;
    const batch = (calls: number) => Array.from({ length: calls }, (_, id) => call('none', id));
    expect((await ask(known, batch(4))).json.error.code).toBe(-32005);
    expect((await ask(known, batch(3))).status).toBe(403);
    expect(bucket.tokens).toBe(0);
  });

  it('reports each unsupported call once', async () => {
    let unsupported = 0;
    const known: CallHandler = { ...handler(), supports: () => false, unsupported: () => unsupported++ };
    await ask(known, call('none', 1));
    await ask(known, [call('none', 1), call('none', 2)]);
    expect(unsupported).toBe(3);
  });

  it('rejects each entry of a batch of up to 1,000 entries, and a larger one with a single error', async () => {
    const batch = (calls: number) => Array.from({ length: calls }, (_, id) => call('send', id));
    expect((await ask(handler(), batch(1000))).json).toHaveLength(1000);
    expect((await ask(handler(), batch(1001))).json).toMatchObject({ id: null, error: { code: -32005 } });
  });

  it('sends a result in a pooled buffer as one part, and releases the buffer only when it was sent', async () => {
    let released = 0;
    const result = Buffer.alloc(100, '1').subarray(60, 90);
    const pooled = { bytes: result, freeBytesBefore: 60, freeBytesAfter: 10, release: () => released++ };
    const answer = await ask({ ...handler(), handle: () => pooled }, call('large', 1));
    expect([answer.parts.length, answer.json.result, released]).toEqual([1, Number('1'.repeat(30)), 0]);
    answer.release?.();
    expect(released).toBe(1);
  });

  it('responds with 503 and a retry after one second if no node is available', async () => {
    const failing: CallHandler = {
      ...handler(),
      handle() {
        throw new NoNodeError();
      },
    };
    expect(await ask(failing, call('send', 1))).toMatchObject({ status: 503, retryAfterSeconds: 1 });
  });

  it('accepts an id of 256 characters, and rejects a longer one without repeating it', async () => {
    const id = 'x'.repeat(256);
    expect((await ask(handler(), { ...call('send', 1), id })).json).toMatchObject({ id, result: '0x1' });
    const rejected = await ask(handler(), { ...call('send', 1), id: `${id}x` });
    expect([rejected.status, rejected.json.id]).toEqual([400, null]);
  });
});
