import { ConfigError } from '../config/index.ts';
import { formatTimestamp, hashSecret, type Token, type TokenStore, wallClock } from '../rules/index.ts';

/**
 * Throws `ConfigError` where the configured token is one that the store knows, valid or not. As the server's own it would
 * be good for every account and for writing, for ever: over what the store says of it, its expiry and its revocation.
 * A token that is made later cannot be the configured one: its secret is random.
 */
export async function refuseStoredToken(apiToken: string | undefined, tokens: TokenStore): Promise<void> {
  if (apiToken === undefined) return;
  const stored = await tokens.findByHash(hashSecret(apiToken).toString('hex'));
  if (!stored) return;
  throw new ConfigError(
    `apiToken (FLOODGATE_API_TOKEN, --api-token) is the token with the id ${stored.id} of the store, which ${stateOf(stored)}; ` +
      "allowed: a text that is no token of the store. As the server's own it would be valid for every account, whatever the " +
      "store says of it. Leave it out, or set another random text; a client's token goes into FLOODGATE_TOKEN, which the server " +
      'does not read',
  );
}

function stateOf({ revoked_on, expires_on }: Token): string {
  if (revoked_on !== null) return 'is revoked';
  return expires_on !== null && expires_on <= formatTimestamp(wallClock()) ? 'has expired' : 'is active';
}
