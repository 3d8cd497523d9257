/** Who is signed in, and what the token allows. The token stays in memory, and in the tab's session storage where asked. */
import { computed, effect, signal } from '@preact/signals';
import { refusal, token as sentToken } from './api/credentials.ts';
import type { Failure } from './api/failure.ts';
import { tokenForCode, verifyToken } from './api/session.ts';

export interface Session {
  readonly token: string;
  readonly tokenId: string;
  readonly label: string | undefined;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly string[];
  readonly expiresOn: string | undefined;
  /** The account whose DNS is guarded here; undefined where there is no guard, or where the token may not see it. */
  readonly guarded: string | undefined;
}

const STORED = 'floodgate.token';
const DEFAULT_ACCOUNT = 'default';

export const session = signal<Session | undefined>();
/** Why nobody is signed in, where somebody was or tried to. */
export const signInFailure = signal<Failure | undefined>();
export const isRemembered = signal(sessionStorage.getItem(STORED) !== null);

/** A link may say anything, and the account stands in lines that are copied into a shell. */
const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,32}$/;
const accountOfUrl = new URLSearchParams(location.search).get('account') ?? '';
const chosenAccount = signal(ACCOUNT_ID.test(accountOfUrl) ? accountOfUrl : undefined);
/** The account that is looked at: the one of the URL, else the one that is guarded, else the token's first. */
export const account = computed(() => chosenAccount.value ?? firstAccount(session.value));

function firstAccount(of: Session | undefined): string {
  if (of?.guarded !== undefined) return of.guarded;
  return (of?.accounts === 'all' ? undefined : of?.accounts[0]) ?? DEFAULT_ACCOUNT;
}

/** The part of a URL that names the account, where it is not the one that is looked at anyway. */
export const accountQuery = computed(() =>
  chosenAccount.value === undefined || chosenAccount.value === firstAccount(session.value)
    ? ''
    : `account=${encodeURIComponent(chosenAccount.value)}`,
);

/** Whether a guard runs here for the account that is looked at: known from signing in, before the live stream tells of it. */
export const isGuarded = computed(() => session.value?.guarded === account.value);

export function chooseAccount(id: string): void {
  chosenAccount.value = id;
}

/** Whether the token allows it; one that may write may read. As the server judges, which is asked all the same. */
export function may(permission: string | undefined): boolean {
  const held = session.value?.permissions ?? [];
  if (permission === undefined) return session.value !== undefined;
  return held.includes(permission) || held.includes(permission.replace(/:read$/, ':write'));
}

/** Signs in; where the token is not taken `signInFailure` says why. */
export async function signIn(token: string): Promise<void> {
  const answer = await verifyToken(token.trim());
  if ('failure' in answer) {
    signInFailure.value = answer.failure;
    return;
  }
  signInFailure.value = undefined;
  refusal.value = undefined;
  session.value = answer.value;
  if (isRemembered.value) sessionStorage.setItem(STORED, answer.value.token);
}

/** Signs in with the code of the link that the server printed. */
export async function exchangeCode(code: string): Promise<void> {
  const answer = await tokenForCode(code);
  if ('failure' in answer) signInFailure.value = answer.failure;
  else await signIn(answer.value);
}

/** Signs in with the token that this tab has remembered, if there is one. */
export async function signInAgain(): Promise<void> {
  const stored = sessionStorage.getItem(STORED);
  if (stored !== null) await signIn(stored);
}

effect(() => {
  sentToken.value = session.value?.token;
});
effect(() => {
  if (refusal.value !== undefined) signOut(refusal.value);
});

export function signOut(failure?: Failure): void {
  sessionStorage.removeItem(STORED);
  isRemembered.value = false;
  signInFailure.value = failure;
  session.value = undefined;
}

export function remember(isWanted: boolean): void {
  isRemembered.value = isWanted;
  const token = session.value?.token;
  if (isWanted && token !== undefined) sessionStorage.setItem(STORED, token);
  else sessionStorage.removeItem(STORED);
}
