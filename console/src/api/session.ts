/** Calls that sign in and out. The server stores the session, and its cookie is not visible to this page. */
import { call } from './client.ts';
import { CONSOLE_HEADERS } from './credentials.ts';
import { type Failure, failureOf, type Outcome, unreachableFailure } from './failure.ts';
import type { Schemas } from './types.ts';

/** Session of a user, with the accounts and permissions of the token that signed in. */
export interface Session {
  readonly tokenId: string;
  readonly label: string | undefined;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly string[];
  readonly expiresOn: string | undefined;
  /** Account that the server's guard protects; undefined without a guard or if the token may not read the account. */
  readonly guarded: string | undefined;
}

/** Session of a browser, as the list of sessions shows it. */
export interface ListedSession {
  readonly id: string;
  readonly token_id: string;
  readonly label?: string;
  readonly created_on: string;
  readonly expires_on: string;
  readonly from: string;
  readonly is_current: boolean;
}

/** Reads the token of the session. */
export async function readSession(): Promise<Outcome<Session>> {
  const answer = await call<Schemas['CurrentToken']>({ path: '/user/tokens/current' });
  if ('failure' in answer) return answer;
  const { id, label, all_accounts, accounts, permissions, expires_on, guarded_account } = answer.value.result;
  return {
    value: {
      ...{ label, permissions },
      tokenId: id,
      accounts: all_accounts ? 'all' : accounts,
      expiresOn: expires_on,
      guarded: guarded_account,
    },
  };
}

/** Whether this browser is signed in, and whether the session contains an API key for the gateway. */
export const readCookie = (): Promise<Outcome<{ signed_in: boolean; has_key?: boolean }>> => ask('/session');

/** Signs in with a token, or with the one-time code of a sign-in link. */
export async function openSession(secret: { token: string } | { code: string }): Promise<Outcome<unknown>> {
  const answer = await ask('/sign-in', 'POST', secret);
  if ('failure' in answer && 'code' in secret && answer.failure.status === 403)
    return { failure: { ...answer.failure, ...CODE_REJECTED } };
  return answer;
}

export const endSession = (): Promise<Outcome<unknown>> => ask('/session', 'DELETE');

/** Lets the session contain an API key, with which the server sends the calls of this page to the gateway. */
export const putGatewayKey = (key: string | undefined): Promise<Outcome<unknown>> =>
  ask('/session/key', 'PUT', { key: key ?? null });

export async function listSessions(): Promise<Outcome<readonly ListedSession[]>> {
  const answer = await ask<{ result: readonly ListedSession[] }>('/sessions');
  return 'failure' in answer ? answer : { value: answer.value.result };
}

export const endListedSession = ({ id }: ListedSession): Promise<Outcome<unknown>> =>
  ask(`/sessions/${encodeURIComponent(id)}`, 'DELETE');

async function ask<T>(path: string, method = 'GET', body?: object): Promise<Outcome<T>> {
  try {
    const response = await fetch(`/console${path}`, {
      method,
      headers: { ...CONSOLE_HEADERS, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      cache: 'no-store',
    });
    const answer: unknown = await response.json();
    if (!response.ok) return { failure: failureOf(response.status, answer, { path, method }) };
    return { value: answer as T }; // `src/server/console/sessionRoutes.ts` defines the answers
  } catch {
    return { failure: unreachableFailure() };
  }
}

const CODE_REJECTED: Omit<Failure, 'status'> = {
  what: 'This sign-in link is no longer valid: it works once, within ten minutes.',
  still: '',
  todo: 'Sign in with a token, or get a new link with the command floodgate console.',
  faults: [],
};
