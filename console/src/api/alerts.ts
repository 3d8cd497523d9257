import { type ApiResponse, call } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type Alerts = Schemas['Alerts'];
export type AlertTest = Schemas['AlertTest'];

export const readAlerts = (): Promise<Outcome<ApiResponse<Alerts>>> => call({ path: '/alerts' });

/** Sends a test alert to each webhook. */
export const testAlerts = (): Promise<Outcome<ApiResponse<readonly AlertTest[]>>> =>
  call({ method: 'POST', path: '/alerts/test' });
