/** Calls that read the health of the server, and calls that change its use of Ethereum nodes. */
import { type ApiResponse, call } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type Health = Schemas['Health'];
export type HealthMinute = Schemas['HealthMinute'];
export type NetworkHealth = Schemas['NetworkHealth'];
export type NodeHealth = Schemas['NodeHealth'];

export const readHealth = (signal: AbortSignal): Promise<Outcome<ApiResponse<Health>>> =>
  call({ path: '/health', signal });

export const readHealthHistory = (
  signal: AbortSignal,
): Promise<Outcome<ApiResponse<readonly HealthMinute[]>>> => call({ path: '/health/history', signal });

/** Takes a node out of service (`drain`) or returns it to service (`resume`). */
export const setNode = (
  network: string,
  node: string,
  action: 'drain' | 'resume',
): Promise<Outcome<ApiResponse<unknown>>> =>
  call({
    method: 'POST',
    base: '/operations',
    path: `/nodes/${encodeURIComponent(network)}/${encodeURIComponent(node)}/${action}`,
  });
