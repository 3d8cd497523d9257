import { signal } from '@preact/signals';
import type { Failure } from './failure.ts';

/** The token that is sent; undefined while nobody is signed in. */
export const token = signal<string | undefined>();
/** Set where the server takes that token no more. */
export const refusal = signal<Failure | undefined>();
