import { expect, it } from 'vitest';
import { RateLimitedError, RpcError } from '../../ethereum/jsonrpc/index.ts';
import { Link, type Message } from './link.ts';

type Calls = { add(numbers: readonly number[]): number; fail(error: Error): void };

function linked() {
  const there: Link<Calls, Calls> = new Link<Calls, Calls>((message) => here.received(message as Message), {
    add: (numbers) => numbers.reduce((sum, one) => sum + one, 0),
    fail: (error) => {
      throw error;
    },
  });
  const here: Link<Calls, Calls> = new Link<Calls, Calls>((message) => there.received(message as Message), {
    add: () => 0,
    fail: () => undefined,
  });
  return here;
}

it('returns the result of the other side, and passes errors for clients unchanged', async () => {
  const link = linked();
  expect(await link.ask('add', [1, 2, 3])).toBe(6);
  const named = Object.assign(new Error('plain'), { name: 'ConfigError' });
  await expect(link.ask('fail', named)).rejects.toMatchObject({ name: 'ConfigError', message: 'plain' });
  const refused = new RpcError('invalidParams', 'wrong', { at: 1 });
  await expect(link.ask('fail', refused)).rejects.toMatchObject({ code: refused.code, data: { at: 1 } });
  const later = new RateLimitedError('too many', 3);
  await expect(link.ask('fail', later)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3 });
});

it('rejects what is not answered once the other side is gone', async () => {
  const link = new Link<Calls, Calls>(() => undefined, { add: () => 0, fail: () => undefined });
  const asked = link.ask('add', [1]);
  link.closed(new Error('ended'));
  await expect(asked).rejects.toThrow('ended');
});
