import { computed, effect, signal } from '@preact/signals';
import { hasGatewayKey, session } from '../session.ts';
import { call } from './client.ts';
import type { Failure } from './failure.ts';
import type { Schemas } from './types.ts';

/** The gateway of this server; undefined until it is read. Its list of networks is empty if no gateway runs. */
export const gateway = signal<Schemas['Gateway'] | undefined>();
export const gatewayFailure = signal<Failure | undefined>();
/** Whether the gateway requires an API key that the session does not contain. */
export const isGatewayClosed = computed(() => gateway.value?.needs_key === true && !hasGatewayKey.value);

/** Reads the gateway after each sign-in only, because its networks do not change while the server runs. */
effect(() => {
  gateway.value = undefined;
  gatewayFailure.value = undefined;
  if (session.value !== undefined) void readGateway();
});

export async function readGateway(): Promise<void> {
  const answer = await call<Schemas['Gateway']>({ path: '/gateway' });
  gatewayFailure.value = 'failure' in answer ? answer.failure : undefined;
  if ('value' in answer) gateway.value = answer.value.result;
}
