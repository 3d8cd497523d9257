import { InvalidRule } from '../index.ts';

/** Longest `Idempotency-Key`; a UUID has 36 characters. */
export const MAX_RETRY_KEY_CHARACTERS = 255;

/** The `Idempotency-Key` of a create, undefined where it has none. Throws `InvalidRule` where it is no key. */
export function readRetryKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && header.length <= MAX_RETRY_KEY_CHARACTERS && /^[!-~]+$/.test(header))
    return header;
  throw new InvalidRule([
    { message: `Idempotency-Key must be 1 to ${MAX_RETRY_KEY_CHARACTERS} visible ASCII characters` },
  ]);
}
