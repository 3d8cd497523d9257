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
  /** Where there is one with this hash already, that is the answer, and nothing is written. Throws `TooManyTokens`. */
  create(token: NewToken, actor: Actor): Promise<Token>;
  /** Revokes a token for good. Undefined where there is none with that id; revoking twice changes nothing. */
  revoke(tokenId: string, actor: Actor): Promise<Token | undefined>;
  /** When tokens were used last, by id, as `noteUses` was told: timestamps as `formatTimestamp` writes them. */
  lastUses(): Promise<ReadonlyMap<string, string>>;
  /** Not audited, as it changes nothing. What is known to be later stays. */
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}
