import { ConfigError } from '../config/index.ts';
import { formatTimestamp, hashSecret, type Token, type TokenStore, wallClock } from '../rules/index.ts';

/**
 * Throws `ConfigError` where the configured token is one that the store knows, valid or not. As the server's own it would
 * be good for every account and for writing, for ever: over what the store says of it, its expiry and its revocation.
 * That a token which is made later is the configured one cannot be: its secret is random.
 */
export async function refuseStoredToken(apiToken: string | undefined, tokens: TokenStore): Promise<void> {
  if (apiToken === undefined) return;
  const stored = await tokens.findByHash(hashSecret(apiToken).toString('hex'));
  if (!stored) return;
  throw new ConfigError(
    `apiToken (FLOODGATE_API_TOKEN, --api-token) is (not shown) the token ${stored.id} of the store, which ${stateOf(stored)}; ` +
      'allowed: a text that is no token of the store, as this one is valid for every account and may do everything. ' +
      'Leave it out, or set another random text. The token of a client goes into FLOODGATE_TOKEN, which the server does not read',
  );
}

function stateOf({ revoked_on, expires_on }: Token): string {
  if (revoked_on !== null) return 'is revoked';
  return expires_on !== null && expires_on <= formatTimestamp(wallClock()) ? 'has expired' : 'is active';
}
