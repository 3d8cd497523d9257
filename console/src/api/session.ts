import type { Session } from '../session.ts';
import { call } from './client.ts';
import { failureOf, failureWithoutAnswer, type Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

/** Who has this token, and what it allows. */
export async function verifyToken(token: string): Promise<Outcome<Session>> {
  const answer = await call<Schemas['CurrentToken']>({ path: '/user/tokens/current', token });
  if ('failure' in answer) return answer;
  const { id, label, all_accounts, accounts, permissions, expires_on, guarded_account } = answer.value.result;
  return {
    value: {
      ...{ token, label, permissions },
      tokenId: id,
      accounts: all_accounts ? 'all' : accounts,
      expiresOn: expires_on,
      guarded: guarded_account,
    },
  };
}

/** The token for the one-time code of the link that the server printed. */
export async function tokenForCode(code: string): Promise<Outcome<string>> {
  try {
    const response = await fetch('/console/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    const body = (await response.json()) as { token?: string };
    if (response.ok && body.token !== undefined) return { value: body.token };
    return { failure: { ...failureOf(response.status, body), ...CODE_REFUSED } };
  } catch {
    return { failure: failureWithoutAnswer() };
  }
}

const CODE_REFUSED = {
  what: 'The link that brought you here is not valid any more: it works once, for ten minutes.',
  still: 'The server runs, and nothing was changed.',
  todo: 'Sign in with a token, or start the server again for a new link.',
};
