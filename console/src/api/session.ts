import { call } from './client.ts';
import { failureOf, type Outcome, unreachableFailure } from './failure.ts';
import type { Schemas } from './types.ts';

/** Session of a user: a token that the server accepted, with its accounts and permissions. */
export interface Session {
  readonly token: string;
  readonly tokenId: string;
  readonly label: string | undefined;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly string[];
  readonly expiresOn: string | undefined;
  /** Account that the server's guard protects; undefined without a guard or if the token may not read the account. */
  readonly guarded: string | undefined;
}

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

/** Returns a token for the one-time code in the sign-in link that the server printed. */
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
    return { failure: unreachableFailure() };
  }
}

const CODE_REFUSED = {
  what: 'This sign-in link is no longer valid: it works once, within ten minutes.',
  still: 'The server is running, and nothing was changed.',
  todo: 'Sign in with a token, or restart the server to get a new link.',
};
