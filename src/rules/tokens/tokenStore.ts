import type { Actor } from '../audit.ts';
import type { NewToken, Token } from './token.ts';

/** Store of tokens. Writes are durable when their promise resolves and are audited, as in `RuleStore`. */
export interface TokenStore {
  /** Sees changes of other processes at once. Never deletes tokens, so that revoked configured tokens are rejected. */
  findByHash(hash: string): Promise<Token | undefined>;
  /** Returns all tokens, including revoked and expired ones, in order of creation. */
  list(): Promise<readonly Token[]>;
  /** Returns the existing token, without a write, if its hash is known. Throws `TooManyTokens`. */
  create(token: NewToken, actor: Actor): Promise<Token>;
  /** Revokes a token permanently. Revoking it again has no effect. Returns undefined if no token has this id. */
  revoke(tokenId: string, actor: Actor): Promise<Token | undefined>;
  /** Last uses recorded by `noteUses`, by id, in the format of `formatTimestamp`. */
  lastUses(): Promise<ReadonlyMap<string, string>>;
  /** Records last uses, without audit entries. Keeps recorded times that are later. */
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}
