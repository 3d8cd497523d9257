/** Session of the user. The server stores it; this page knows its account and permissions, and never its token. */
import { computed, effect, signal } from '@preact/signals';
import { sessionRejection } from './api/credentials.ts';
import type { Failure, Outcome } from './api/failure.ts';
import { endSession, openSession, readCookie, readSession, type Session } from './api/session.ts';
import { forgetDrafts } from './ui/form/draft.ts';

const DEFAULT_ACCOUNT = 'default';
const RETRY_MS = 1_000;

export const session = signal<Session | undefined>();
export const isRestoring = signal(true);
export const signInFailure = signal<Failure | undefined>();
/** Whether the session contains an API key for the gateway. The key itself is only on the server. */
export const hasGatewayKey = signal(false);

/** Valid account id. The id in the URL is untrusted, and users copy commands that contain it into a shell. */
const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,32}$/;
const accountOfUrl = new URLSearchParams(location.search).get('account') ?? '';
const chosenAccount = signal(ACCOUNT_ID.test(accountOfUrl) ? accountOfUrl : undefined);
/** The selected account: the one in the URL, otherwise the guarded account, otherwise the token's first account. */
export const account = computed(() => chosenAccount.value ?? firstAccount(session.value));

function firstAccount(of: Session | undefined): string {
  return of?.guarded_account ?? of?.accounts[0] ?? DEFAULT_ACCOUNT;
}

/**
 * URL query that selects the account; empty if the account is selected by default. The first account of a token is
 * not omitted, because a link may be opened with another token.
 */
export const accountQuery = computed(() => {
  const first = firstAccount(session.value);
  const isShared = first === session.value?.guarded_account || first === DEFAULT_ACCOUNT;
  return account.value === first && isShared ? '' : `account=${encodeURIComponent(account.value)}`;
});

/** Whether this server's guard protects the selected account. It is known before the first live message. */
export const isGuarded = computed(() => session.value?.guarded_account === account.value);

export function chooseAccount(id: string): void {
  chosenAccount.value = id;
}

/**
 * Returns whether the token has a permission; `:write` includes `:read`. Only hides controls: the server checks too.
 */
export function may(permission: string | undefined): boolean {
  const held = session.value?.permissions ?? [];
  if (permission === undefined) return session.value !== undefined;
  return held.includes(permission) || held.includes(permission.replace(/:read$/, ':write'));
}

/** Signs in with a token, or with the one-time code of a sign-in link. */
export async function signIn(secret: { token: string } | { code: string }): Promise<void> {
  const opened = await openSession(secret);
  if ('failure' in opened) {
    signInFailure.value = opened.failure;
    return;
  }
  await restoreSession();
  if (session.value === undefined) signInFailure.value ??= NOT_RECOGNISED;
}

/** The server accepted the token, but not the first request of the new session. */
const NOT_RECOGNISED: Failure = {
  status: undefined,
  faults: [],
  what: 'The server does not recognise this browser after signing in.',
  still: '',
  todo: 'Allow cookies for this address. Over plain HTTP, also let the browser send the Referer header.',
};

/** Continues the session of this browser, if there is one. While the server is away, tries again. */
export async function restoreSession(): Promise<void> {
  for (;;) {
    const failure = await readOnce();
    if (failure?.status !== undefined || failure === undefined) break;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  isRestoring.value = false;
}

async function readOnce(): Promise<Failure | undefined> {
  const cookie = await readCookie();
  const answer: Outcome<Session | undefined> =
    'failure' in cookie ? cookie : cookie.value.signed_in ? await readSession() : { value: undefined };
  if ('failure' in answer) {
    signInFailure.value = answer.failure;
    return answer.failure;
  }
  if (answer.value !== undefined || signInFailure.value?.status === undefined)
    signInFailure.value = undefined;
  sessionRejection.value = undefined;
  hasGatewayKey.value = 'value' in cookie && cookie.value.has_key === true;
  session.value = answer.value;
  return undefined;
}

effect(() => {
  if (sessionRejection.value === undefined) return;
  signInFailure.value = sessionRejection.value;
  session.value = undefined;
});

/** Ends the session. If the server cannot be reached, the session continues, and its failure is returned. */
export async function signOut(): Promise<Failure | undefined> {
  const answer = await endSession();
  if ('failure' in answer) return answer.failure;
  signInFailure.value = undefined;
  session.value = undefined;
  forgetDrafts();
  return undefined;
}
