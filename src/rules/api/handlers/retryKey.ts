import { InvalidRule } from '../../index.ts';
import type { ApiRequest } from '../http/request.ts';

/** Maximum length of an `Idempotency-Key` header. A UUID, the usual value, has 36 characters. */
export const MAX_RETRY_KEY_CHARACTERS = 255;

/** Returns the `Idempotency-Key` header of a request; undefined without one. Throws `InvalidRule` for a bad value. */
export function readRetryKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && header.length <= MAX_RETRY_KEY_CHARACTERS && /^[!-~]+$/.test(header))
    return header;
  throw new InvalidRule([
    { message: `Idempotency-Key must be 1 to ${MAX_RETRY_KEY_CHARACTERS} visible ASCII characters` },
  ]);
}

/** Returns the retry key of a creation in an account. Each token has its own keys, so the result contains its id. */
export function retryKeyOf({ caller, headers }: Pick<ApiRequest, 'caller' | 'headers'>): string | undefined {
  const key = readRetryKey(headers['idempotency-key']);
  return key === undefined ? undefined : `${caller.tokenId} ${key}`;
}
