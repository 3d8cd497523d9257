import type { Actor } from '../audit.ts';
import type { NewToken, Token } from './token.ts';

/** Store of tokens. Writes are durable when their promise resolves and are audited, as in `RuleStore`. */
export interface TokenStore {
  /** Sees changes of other processes at once. Revoked tokens are kept, so that none can be the configured token. */
  findByHash(hash: string): Promise<Token | undefined>;
  /** Returns all tokens, including revoked and expired ones, in order of creation. */
  list(): Promise<readonly Token[]>;
  /** Creates a token. If its hash is known, returns the existing one without a write. Throws `TooManyTokens`. */
  create(token: NewToken, actor: Actor): Promise<Token>;
  /** Revokes a token permanently. Revoking it again has no effect. Returns undefined if no token has this id. */
  revoke(tokenId: string, actor: Actor): Promise<Token | undefined>;
  /** Last uses recorded by `noteUses`, by id, in the format of `formatTimestamp`. */
  lastUses(): Promise<ReadonlyMap<string, string>>;
  /** Records last uses, without audit entries. Keeps recorded times that are later. */
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}
