import { signal } from '@preact/signals';
import type { Failure } from './failure.ts';

/** Token of the signed-in user; undefined while signed out. */
export const token = signal<string | undefined>();
/** Failure that is set when the server rejects the token. */
export const tokenRejection = signal<Failure | undefined>();
