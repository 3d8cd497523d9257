import { describe, expect, it } from 'vitest';
import { RateLimitedError, RpcError } from './errors.ts';
import { type CallHandler, handleBody } from './handle.ts';

const MAX_BATCH_BYTES = 1_000;

/** `large` answers with all the room that a batch has, `send` changes something, `busy` has no room at all. */
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

async function ask(known: CallHandler, body: unknown) {
  const answer = await handleBody(Buffer.from(JSON.stringify(body)), known);
  const text = Buffer.concat(answer.parts.map((part) => Buffer.from(part as string))); // bytes are taken, too
  return { ...answer, json: JSON.parse(text.toString()) };
}

const call = (method: string, id: number) => ({ jsonrpc: '2.0', id, method });

describe('a request', () => {
  it('that changes something is not carried out where its batch has no room for its answer', async () => {
    const known = handler();
    // Those before it are answered by the time that a ninth is begun.
    const batch = [...Array.from({ length: 8 }, (_, id) => call('large', id)), call('send', 8)];
    const { json } = await ask(known, batch);
    expect(json[8].error).toMatchObject({ code: -32005, data: { limit: MAX_BATCH_BYTES } });
    expect(known.sent).toBe(0);
  });

  it('that changes something has its answer, whatever else its batch asks for meanwhile', async () => {
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

  it('lets others have their turn while its batch is carried out, though all of it is answered at once', async () => {
    const busyMs = 2;
    const known: CallHandler = {
      ...handler(),
      handle() {
        const endMs = performance.now() + busyMs;
        while (performance.now() < endMs);
        return Buffer.from('1');
      },
    };
    let turns = 0;
    const count = (): void => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await ask(
      known,
      Array.from({ length: 100 }, (_, id) => call('slow', id)),
    );
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(100 / 3);
  });

  it('that there is no room for is told when to try again: with 429 where it is alone', async () => {
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
});
