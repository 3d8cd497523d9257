/** Calls that list, create and revoke tokens of the rules API and API keys of the gateway. */
import { type ApiRequest, type ApiResponse, call, callPages } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type ApiToken = Schemas['ApiToken'];
export type ApiTokenCreation = Schemas['ApiTokenCreation'];
export type GatewayKey = Schemas['GatewayKey'];
export type GatewayKeyCreation = Schemas['GatewayKeyCreation'];
/** A new token or key with its secret (`value`). Only the response to the creation contains the secret. */
export type WithSecret<T> = T & { readonly value: string };

const PER_PAGE = 1_000;

export const listTokens = (): Promise<Outcome<readonly ApiToken[]>> => callPages('/user/tokens', PER_PAGE);
export const listKeys = (): Promise<Outcome<readonly GatewayKey[]>> => callPages('/gateway/keys', PER_PAGE);

/** Returns a request that creates a token or key. A retry with the same body and `retryKey` creates no second one. */
const creation = (path: string, body: object, retryKey: string): ApiRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': retryKey },
});

export const createToken = (
  body: ApiTokenCreation,
  retryKey: string,
): Promise<Outcome<ApiResponse<WithSecret<ApiToken>>>> => call(creation('/user/tokens', body, retryKey));

export const createKey = (
  body: GatewayKeyCreation,
  retryKey: string,
): Promise<Outcome<ApiResponse<WithSecret<GatewayKey>>>> => call(creation('/gateway/keys', body, retryKey));

export const revokeToken = (id: string): Promise<Outcome<ApiResponse<ApiToken>>> =>
  call({ method: 'DELETE', path: `/user/tokens/${encodeURIComponent(id)}` });

export const revokeKey = (id: string): Promise<Outcome<ApiResponse<GatewayKey>>> =>
  call({ method: 'DELETE', path: `/gateway/keys/${encodeURIComponent(id)}` });

/** Returns a new idempotency key: 32 hex digits. `crypto.randomUUID` is not used, as it works only with HTTPS. */
export function newRetryKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
