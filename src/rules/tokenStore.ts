import type { Actor } from './audit.ts';
import type { NewToken, Token } from './token.ts';

/** Where tokens are kept. Writes are durable when acknowledged and audited, as those of `RuleStore`. */
export interface TokenStore {
  /**
   * The token with this hash as it stands now, also where another process changed it a moment ago. Those that were revoked
   * or have expired stay known for good: a server refuses to take one for its own.
   */
  findByHash(hash: string): Promise<Token | undefined>;
  /** All tokens, revoked and expired ones too, in the order of their creation. */
  list(): Promise<readonly Token[]>;
  create(token: NewToken, actor: Actor): Promise<Token>;
  /** Revokes a token for good. Undefined where there is none with that id; revoking twice changes nothing. */
  revoke(tokenId: string, actor: Actor): Promise<Token | undefined>;
}
