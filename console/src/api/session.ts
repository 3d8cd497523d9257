/** Calls that sign in and out. The server stores the session, and its cookie is not visible to this page. */
import { type ApiRequest, call, callJson, pathOf } from './client.ts';
import type { Failure, Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type Session = Schemas['CurrentToken'];

export interface ListedSession {
  readonly id: string;
  readonly token_id: string;
  readonly label?: string;
  readonly created_on: string;
  readonly expires_on: string;
  readonly from: string;
  readonly is_current: boolean;
}

export async function readSession(): Promise<Outcome<Session>> {
  const answer = await call<Session>({ path: '/user/tokens/current' });
  return 'failure' in answer ? answer : { value: answer.value.result };
}

/** Whether this browser is signed in, and whether the session contains an API key for the gateway. */
export const readCookie = (): Promise<Outcome<{ signed_in: boolean; has_key?: boolean }>> => ask('/session');

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
  ask(pathOf`/sessions/${id}`, 'DELETE');

/** Sends a request to the routes of `src/server/console/sessionRoutes.ts`, whose responses have no envelope. */
async function ask<T>(
  path: string,
  method: ApiRequest['method'] = 'GET',
  body?: object,
): Promise<Outcome<T>> {
  const answer = await callJson<T>({ base: '/console', path, method, body });
  return 'failure' in answer ? answer : { value: answer.value.body };
}

const CODE_REJECTED: Omit<Failure, 'status'> = {
  what: 'This sign-in link is no longer valid: it works once, within ten minutes.',
  still: '',
  todo: 'Sign in with a token, or get a new link with the command floodgate console.',
  faults: [],
};
