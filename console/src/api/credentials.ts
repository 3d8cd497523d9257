import { signal } from '@preact/signals';
import type { Failure } from './failure.ts';

/** Token of the session; undefined while signed out. */
export const token = signal<string | undefined>();
/** Set when the server rejects the token. */
export const tokenRejection = signal<Failure | undefined>();
