import { type ApiResponse, call } from './client.ts';
import type { Outcome } from './failure.ts';

/** Starts the test flood of `floodgate dev`. Other servers have none. */
export const startTestFlood = (): Promise<Outcome<ApiResponse<unknown>>> =>
  call({ method: 'POST', base: '/operations', path: '/test-flood' });
