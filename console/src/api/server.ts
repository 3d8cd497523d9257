/** Calls for the server: its tokens and API keys, alerts, health and nodes. */
import { type ApiRequest, call, callPages, pathOf } from './client.ts';
import type { ApiToken, GatewayKey, Schemas } from './types.ts';

/** A new token or key with its secret (`value`). Only the response to the creation contains the secret. */
export type WithSecret<T> = T & { readonly value: string };

const PER_PAGE = 1_000;

export const listTokens = () => callPages<ApiToken>('/user/tokens', PER_PAGE);
export const listKeys = () => callPages<GatewayKey>('/gateway/keys', PER_PAGE);

/** Returns a request that creates a token or key. A retry with the same body and `retryKey` creates no second one. */
const creation = (path: string, body: object, retryKey: string): ApiRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': retryKey },
});

export const createToken = (body: Schemas['ApiTokenCreation'], retryKey: string) =>
  call<WithSecret<ApiToken>>(creation('/user/tokens', body, retryKey));
export const createKey = (body: Schemas['GatewayKeyCreation'], retryKey: string) =>
  call<WithSecret<GatewayKey>>(creation('/gateway/keys', body, retryKey));

export const revokeToken = (id: string) =>
  call<ApiToken>({ method: 'DELETE', path: pathOf`/user/tokens/${id}` });
export const revokeKey = (id: string) =>
  call<GatewayKey>({ method: 'DELETE', path: pathOf`/gateway/keys/${id}` });

/** Returns a new idempotency key: 32 hex digits. `crypto.randomUUID` is not used, as it works only with HTTPS. */
export function newRetryKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

export const readAlerts = () => call<Schemas['Alerts']>({ path: '/alerts' });
export const testAlerts = () =>
  call<readonly Schemas['AlertTest'][]>({ method: 'POST', path: '/alerts/test' });

export const readHealth = () => call<Schemas['Health']>({ path: '/health' });
export const readHealthHistory = () => call<readonly Schemas['HealthMinute'][]>({ path: '/health/history' });

/** Takes a node out of service (`drain`) or returns it to service (`resume`). */
export const setNode = (network: string, node: string, action: 'drain' | 'resume') =>
  call({ method: 'POST', base: '/operations', path: pathOf`/nodes/${network}/${node}/${action}` });
