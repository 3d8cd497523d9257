/** Tokens of the rules API, and API keys of the gateway. */
import { type Answer, type Call, call } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type ApiToken = Schemas['ApiToken'];
export type ApiTokenCreation = Schemas['ApiTokenCreation'];
export type GatewayKey = Schemas['GatewayKey'];
export type GatewayKeyCreation = Schemas['GatewayKeyCreation'];
/** What an answer to a creation has, and nothing else ever. */
export type WithSecret<T> = T & { readonly value: string };

/** More than may be valid at once; of those before, revoked and expired ones are left out. */
const PER_PAGE = 1_000;
const MAX_PAGES = 10;

async function all<T>(path: string): Promise<Outcome<readonly T[]>> {
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await call<readonly T[]>({ path, query: { page, per_page: PER_PAGE } });
    if ('failure' in answer) return answer;
    found.push(...answer.value.result);
    if (page >= (answer.value.info.total_pages ?? 1)) break;
  }
  return { value: found };
}

export const listTokens = (): Promise<Outcome<readonly ApiToken[]>> => all('/user/tokens');
export const listKeys = (): Promise<Outcome<readonly GatewayKey[]>> => all('/gateway/keys');

/** Sent again with the same words it makes no second one. */
const creation = (path: string, body: object, retryKey: string): Call => ({
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': retryKey },
});

export const createToken = (
  body: ApiTokenCreation,
  retryKey: string,
): Promise<Outcome<Answer<WithSecret<ApiToken>>>> => call(creation('/user/tokens', body, retryKey));

export const createKey = (
  body: GatewayKeyCreation,
  retryKey: string,
): Promise<Outcome<Answer<WithSecret<GatewayKey>>>> => call(creation('/gateway/keys', body, retryKey));

export const revokeToken = (id: string): Promise<Outcome<Answer<ApiToken>>> =>
  call({ method: 'DELETE', path: `/user/tokens/${encodeURIComponent(id)}` });

export const revokeKey = (id: string): Promise<Outcome<Answer<GatewayKey>>> =>
  call({ method: 'DELETE', path: `/gateway/keys/${encodeURIComponent(id)}` });

/** Random, also where the page is not of a secure origin. */
export function newRetryKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
