import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { TokenStore } from '../../index.ts';
import { Authenticator } from './authenticate.ts';

const NO_USES = { countValid: () => undefined, countInvalid: () => undefined };

/** An authenticator whose look-ups find nothing, and end when the test calls the functions in `ends`. */
function heldLookUps() {
  const ends: (() => void)[] = [];
  const tokens = {
    findByHash: () => new Promise((resolve) => ends.push(() => resolve(undefined))),
  } as unknown as TokenStore; // the only method that is called
  const authenticator = new Authenticator({ configuredTokens: [] }, { tokens, uses: NO_USES });
  const send = (remoteAddress: string, socket: object = {}): Promise<unknown> =>
    authenticator
      .authenticate({ authorization: 'Bearer x' }, {
        socket: Object.assign(socket, { remoteAddress }),
      } as IncomingMessage)
      .catch((error: unknown) => error);
  return { ends, send };
}

it('a client that sends invalid tokens does not delay another client', async () => {
  const { ends, send } = heldLookUps();
  const greedy = Array.from({ length: 100 }, () => send('192.0.2.1'));
  await nextTurn();
  expect(ends).toHaveLength(3);
  const polite = send('192.0.2.2');
  await nextTurn();
  expect(ends).toHaveLength(4);
  ends[3]?.();
  expect(await polite).toMatchObject({ status: 401 });
  for (let i = 0; i < 101; i++) {
    ends[i]?.();
    await nextTurn();
  }
  for (const answer of await Promise.all(greedy)) expect(answer).toMatchObject({ status: 401 });
});

it('nothing is looked up for a client that disconnected while it waited', async () => {
  const { ends, send } = heldLookUps();
  const socket = { destroyed: false };
  const sent = Array.from({ length: 100 }, () => send('192.0.2.1', socket));
  await nextTurn();
  socket.destroyed = true;
  for (const end of [...ends]) end();
  await Promise.all(sent);
  expect(ends).toHaveLength(3);
});
