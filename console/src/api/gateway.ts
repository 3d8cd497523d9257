import { effect, signal } from '@preact/signals';
import { session } from '../session.ts';
import { call } from './client.ts';
import type { Failure } from './failure.ts';
import type { Schemas } from './types.ts';

/** The gateway beside the console; undefined until it is known. Where there is none it has no network. */
export const gateway = signal<Schemas['Gateway'] | undefined>();
export const gatewayFailure = signal<Failure | undefined>();

/** Asked once for each who signs in: networks are what the server was started with. */
effect(() => {
  gateway.value = undefined;
  gatewayFailure.value = undefined;
  if (session.value !== undefined) void readGateway();
});

export async function readGateway(): Promise<void> {
  const answer = await call<Schemas['Gateway']>({ path: '/gateway' });
  if ('value' in answer) gateway.value = answer.value.result;
  else gatewayFailure.value = answer.failure;
}
