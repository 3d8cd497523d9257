/** Session of the user. The token is kept in memory, and in the session storage of the tab if the user wants that. */
import { computed, effect, signal } from '@preact/signals';
import { token as sentToken, tokenRejection } from './api/credentials.ts';
import type { Failure } from './api/failure.ts';
import { type Session, tokenForCode, verifyToken } from './api/session.ts';

const STORAGE_KEY = 'floodgate.token';
const DEFAULT_ACCOUNT = 'default';

export const session = signal<Session | undefined>();
/** The reason why signing in failed, or why the session ended. */
export const signInFailure = signal<Failure | undefined>();
export const isRemembered = signal(sessionStorage.getItem(STORAGE_KEY) !== null);

/** Valid account id. The id in the URL is untrusted, and users copy commands that contain it into a shell. */
const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,32}$/;
const accountOfUrl = new URLSearchParams(location.search).get('account') ?? '';
const chosenAccount = signal(ACCOUNT_ID.test(accountOfUrl) ? accountOfUrl : undefined);
/** The selected account: the one in the URL, otherwise the guarded account, otherwise the token's first account. */
export const account = computed(() => chosenAccount.value ?? firstAccount(session.value));

function firstAccount(of: Session | undefined): string {
  if (of?.guarded !== undefined) return of.guarded;
  return (of?.accounts === 'all' ? undefined : of?.accounts[0]) ?? DEFAULT_ACCOUNT;
}

/** URL query that selects the account; empty if the account is selected by default. */
export const accountQuery = computed(() =>
  chosenAccount.value === undefined || chosenAccount.value === firstAccount(session.value)
    ? ''
    : `account=${encodeURIComponent(chosenAccount.value)}`,
);

/** Whether this server's guard protects the selected account. It is known before the first live message. */
export const isGuarded = computed(() => session.value?.guarded === account.value);

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

export async function signIn(token: string): Promise<void> {
  const answer = await verifyToken(token.trim());
  if ('failure' in answer) {
    signInFailure.value = answer.failure;
    return;
  }
  signInFailure.value = undefined;
  tokenRejection.value = undefined;
  session.value = answer.value;
  if (isRemembered.value) sessionStorage.setItem(STORAGE_KEY, answer.value.token);
}

/** Signs in with the one-time code of the link that the server printed. */
export async function exchangeCode(code: string): Promise<void> {
  const answer = await tokenForCode(code);
  if ('failure' in answer) signInFailure.value = answer.failure;
  else await signIn(answer.value);
}

/** Signs in with the token that this tab remembers, if any. */
export async function restoreSession(): Promise<void> {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  if (stored !== null) await signIn(stored);
}

effect(() => {
  sentToken.value = session.value?.token;
});
effect(() => {
  if (tokenRejection.value !== undefined) signOut(tokenRejection.value);
});

export function signOut(failure?: Failure): void {
  sessionStorage.removeItem(STORAGE_KEY);
  isRemembered.value = false;
  signInFailure.value = failure;
  session.value = undefined;
}

export function remember(isWanted: boolean): void {
  isRemembered.value = isWanted;
  const token = session.value?.token;
  if (isWanted && token !== undefined) sessionStorage.setItem(STORAGE_KEY, token);
  else sessionStorage.removeItem(STORAGE_KEY);
}
