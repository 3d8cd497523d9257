import { ConfigError } from '../../config/index.ts';
import { formatTimestamp, hashSecret, type Token, type TokenStore, wallClock } from '../../rules/index.ts';

/**
 * Throws ConfigError if the configured token is in the token store, because as the server's own token it would be
 * valid for every account and for writing, even after expiry or revocation. Tokens created later are random and
 * cannot equal it. Ended tokens that were removed from the store (`MAX_ENDED_TOKENS`) are not recognised.
 */
export async function rejectStoredToken(apiToken: string | undefined, tokens: TokenStore): Promise<void> {
  if (apiToken === undefined) return;
  const stored = await tokens.findByHash(hashSecret(apiToken).toString('hex'));
  if (!stored) return;
  throw new ConfigError(
    `apiToken (FLOODGATE_API_TOKEN, --api-token) is the stored token ${stored.id}, which ${stateOf(stored)}: ` +
      "remove it, or use a random text that is not a stored token. As the server's own token it would be valid for every " +
      'account, regardless of its stored permissions and expiry. Clients read their token from FLOODGATE_TOKEN, which the ' +
      'server does not read',
  );
}

function stateOf({ revoked_on, expires_on }: Token): string {
  if (revoked_on !== null) return 'is revoked';
  return expires_on !== null && expires_on <= formatTimestamp(wallClock()) ? 'has expired' : 'is active';
}
