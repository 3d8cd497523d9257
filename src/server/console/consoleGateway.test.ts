import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import type { Gateway } from '../../ethereum/gateway/index.ts';
import type { TrackedResponse } from '../../platform/http/index.ts';
import type { SessionCookies } from '../../rules/api/index.ts';
import { ConsoleGateway } from './consoleGateway.ts';

it('one address has at most three look-ups of sessions at a time, so that it does not delay others', async () => {
  const lookedUp: string[] = [];
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const handled: IncomingMessage[] = [];
  const gateway = new ConsoleGateway({
    gateway: {
      handle: (request: IncomingMessage) => void handled.push(request),
    } as Partial<Gateway> as Gateway,
    cookies: {
      credentialsOf: ({ socket }) => ({ session: socket.remoteAddress }),
    } as Partial<SessionCookies> as SessionCookies,
    async findAccess(secret) {
      lookedUp.push(secret);
      await answered;
      return { key: undefined };
    },
  });
  const send = (remoteAddress: string, isDestroyed = false): void =>
    gateway.handle(
      {
        url: '/console/v1/mainnet',
        socket: { remoteAddress, destroyed: isDestroyed },
      } as Partial<IncomingMessage> as IncomingMessage,
      // No other method is called.
      {
        setHeader: () => undefined,
        writeHead: () => ({ end: () => undefined }),
      } as object as TrackedResponse,
    );
  for (let i = 0; i < 10; i++) send('192.0.2.1');
  send('192.0.2.1', true);
  send('192.0.2.2');
  await new Promise(setImmediate);
  expect(lookedUp).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']);
  answer();
  await expect.poll(() => handled.length).toBe(11);
  expect(lookedUp).toHaveLength(11);
});
