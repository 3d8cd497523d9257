/** What operators see and do of the server itself. */
import { type Answer, call } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type Health = Schemas['Health'];
export type HealthMinute = Schemas['HealthMinute'];
export type NetworkHealth = Schemas['NetworkHealth'];
export type NodeHealth = Schemas['NodeHealth'];

export const readHealth = (signal: AbortSignal): Promise<Outcome<Answer<Health>>> =>
  call({ path: '/health', signal });

export const readHealthHistory = (signal: AbortSignal): Promise<Outcome<Answer<readonly HealthMinute[]>>> =>
  call({ path: '/health/history', signal });

/** Takes a node out of service, or back into it. */
export const setNode = (
  network: string,
  node: string,
  action: 'drain' | 'resume',
): Promise<Outcome<Answer<unknown>>> =>
  call({
    method: 'POST',
    base: '/operations',
    path: `/nodes/${encodeURIComponent(network)}/${encodeURIComponent(node)}/${action}`,
  });
