import type { Actor } from '../audit.ts';
import type { NewToken, Token } from './token.ts';

export interface RevokedTokens {
  readonly token: Token;
  /** Tokens that were revoked because `token` had created them, in order of creation. */
  readonly descendants: readonly Token[];
}

/** Store of tokens. A write is durable when its promise resolves, and has an audit entry, as in `RuleStore`. */
export interface TokenStore {
  /**
   * Returns the token with this hash, even a revoked one, so that startup can reject it as configured token. Changes
   * that other processes made are visible at once.
   */
  findByHash(hash: string): Promise<Token | undefined>;
  /** Returns all valid tokens, and those that `create` has not removed since they ended, in order of creation. */
  list(): Promise<readonly Token[]>;
  /**
   * Creates a token, and removes ended tokens above `MAX_ENDED_TOKENS`. If a token with this hash exists, returns it
   * and writes nothing. Throws `TooManyTokens`, and `CreatorEnded` if the actor is a token that is no longer valid.
   */
  create(token: NewToken, actor: Actor): Promise<Token>;
  /**
   * Revokes a token permanently, and in the same transaction all tokens that it created, directly or through others.
   * Revoking it again has no effect. Returns undefined if no token has this id.
   */
  revoke(tokenId: string, actor: Actor): Promise<RevokedTokens | undefined>;
  /** Returns the last use of each token that `noteUses` recorded, by token id, in the format of `formatTimestamp`. */
  lastUses(): Promise<ReadonlyMap<string, string>>;
  /**
   * Records times of last use by token id, without audit entries. Keeps a later time that is already recorded. Ignores
   * unknown ids.
   */
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}
