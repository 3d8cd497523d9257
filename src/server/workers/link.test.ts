import { expect, it } from 'vitest';
import { BlockUnavailableError, NoSpaceError } from '../../ethereum/ingest/index.ts';
import { NoNodeError, RateLimitedError, RetryLaterError, RpcError } from '../../ethereum/jsonrpc/index.ts';
import { IndexUnavailableError } from '../../ethereum/traces/index.ts';
import { Link, type Message } from './link.ts';

type Calls = { add(numbers: readonly number[]): number; fail(error: Error): void };

function linked() {
  const there: Link<Calls, Calls> = new Link<Calls, Calls>(
    (message) => here.received(structuredClone(message) as Message),
    {
      add: (numbers) => numbers.reduce((sum, one) => sum + one, 0),
      fail: (error) => {
        throw error;
      },
    },
  );
  const here: Link<Calls, Calls> = new Link<Calls, Calls>((message) => there.received(message as Message), {
    add: () => 0,
    fail: () => undefined,
  });
  return here;
}

it('returns the result of the other process', async () => {
  expect(await linked().ask('add', [1, 2, 3])).toBe(6);
});

it('rejects with an error of the same class and members as that of the other process', async () => {
  class Unproven extends IndexUnavailableError {
    override readonly name = 'Unproven';
    override readonly isUnproven = true;
  }
  for (const [error, kind] of [
    [Object.assign(new Error('plain'), { name: 'ConfigError' }), Error],
    [new RpcError('invalidParams', 'wrong', { at: 1 }), RpcError],
    [new RateLimitedError('too many', 3), RateLimitedError],
    [new NoNodeError(), RetryLaterError],
    [new BlockUnavailableError(7, { failure: 'timeout' }), BlockUnavailableError],
    [new NoSpaceError('the disk is full'), NoSpaceError],
    [new IndexUnavailableError('no host answers'), IndexUnavailableError],
    [new Unproven('a row is missing'), IndexUnavailableError],
  ] as const) {
    const received = await linked()
      .ask('fail', error)
      .catch((thrown: unknown) => thrown);
    expect(received).toBeInstanceOf(kind);
    expect(received).toMatchObject({ ...error, message: error.message });
  }
});

it('sends no members of other errors, because some values cannot be sent', async () => {
  const error = Object.assign(new Error('plain'), { retry: () => undefined });
  await expect(linked().ask('fail', error)).rejects.not.toHaveProperty('retry');
});

it('rejects what is not answered once the other side is gone', async () => {
  const link = new Link<Calls, Calls>(() => undefined, { add: () => 0, fail: () => undefined });
  const asked = link.ask('add', [1]);
  link.closed(new Error('ended'));
  await expect(asked).rejects.toThrow('ended');
});
