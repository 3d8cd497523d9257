import { randomBytes } from 'node:crypto';
import {
  type Actor,
  checkTokenLimits,
  displacedTokens,
  formatTimestamp,
  isValidAt,
  MAX_VALID_IN_TREE,
  type Micros,
  type NewToken,
  type RevokedTokens,
  rootOf,
  stamp,
  type Token,
  type TokenStore,
  tokenBy,
  type ValidTokens,
  validDescendants,
  withoutHash,
} from '../../index.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';
import type { Decision, Write } from './groupCommit.ts';

/** Length of a token id: 128 random bits, as in the ids that Cloudflare's token verification returns. */
const TOKEN_ID_BYTES = 16;

/** Tokens in LMDB, keyed by the hash of their secret, with an index by id. */
export class LmdbTokenStore implements TokenStore {
  readonly #environment: RulesEnvironment;
  /** The committed tokens at the time of the last change, so that a flood of rejected creates does not decode them. */
  #committed: { readonly changedAt: Micros; readonly tokens: readonly Token[] } | undefined;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
  }

  async findByHash(hash: string): Promise<Token | undefined> {
    this.#environment.refresh();
    return this.#environment.tokens.get(hash);
  }

  async list(): Promise<readonly Token[]> {
    this.#environment.refresh();
    return this.#inOrder(() => true);
  }

  async create(token: NewToken, actor: Actor): Promise<Token> {
    // A rejection needs no transaction. Otherwise, a flood of rejected creates would delay the changes of others.
    this.#environment.refresh();
    const { changedAt } = this.#environment;
    if (this.#committed?.changedAt !== changedAt)
      this.#committed = { changedAt, tokens: this.#tokensForLimits() };
    this.#decideCreate(token, actor, this.#committed.tokens);
    return this.#environment.commits.run(() => this.#decideCreate(token, actor, this.#tokensForLimits()));
  }

  revoke(tokenId: string, actor: Actor): Promise<RevokedTokens | undefined> {
    return this.#environment.commits.run<RevokedTokens | undefined>(() => {
      const token = this.#byId(tokenId);
      if (!token) return { result: undefined, writes: [] };
      if (token.revoked_on !== null) return { result: { token, descendants: [] }, writes: [] };
      const root = rootOf(token);
      const tree = this.#inOrder((other) => rootOf(other) === root);
      const now = formatTimestamp(this.#environment.wallClock());
      const moment = this.#environment.nextMoment();
      const revoked_on = formatTimestamp(moment);
      const changes = [token, ...validDescendants(token.id, tree, now)].map((before) => {
        return { action: 'token.revoke', before, after: { ...before, revoked_on } } as const;
      });
      const descendants = changes.slice(1).map(({ after }) => after);
      return {
        result: { token: { ...token, revoked_on }, descendants },
        writes: this.#writesOf(changes, moment, actor),
      };
    });
  }

  async lastUses(): Promise<ReadonlyMap<string, string>> {
    this.#environment.refresh();
    return new Map([...this.#environment.tokenUses.getRange()].map(({ key, value }) => [key, value]));
  }

  noteUses(uses: ReadonlyMap<string, string>): Promise<void> {
    const { tokenUses: database, tokenIds, commits } = this.#environment;
    return commits.run(() => ({
      result: undefined,
      writes: [...uses]
        .filter(([id, usedOn]) => usedOn > (database.get(id) ?? '') && tokenIds.doesExist(id))
        .map(([key, value]) => ({ database, key, value })),
    }));
  }

  #decideCreate(token: NewToken, actor: Actor, tokens: readonly Token[]): Decision<Token> {
    const known = this.#environment.tokens.get(token.hash);
    if (known !== undefined) return { result: known, writes: [] };
    const moment = this.#environment.nextMoment();
    const created_on = formatTimestamp(moment);
    const creator = this.#byId(actor.by);
    const now = formatTimestamp(this.#environment.wallClock());
    const wanted = tokenBy({ creator, by: actor.by }, token, now);
    checkTokenLimits(creator, validTokens(tokens, wanted.root, created_on));
    const created: Token = {
      id: randomBytes(TOKEN_ID_BYTES).toString('hex'),
      ...wanted,
      created_on,
      revoked_on: null,
      created_by: actor.by,
    };
    const change = { action: 'token.create', before: null, after: created } as const;
    const removed = displacedTokens(tokens, now).flatMap((displaced) => this.#removalOf(displaced));
    return { result: created, writes: [...this.#writesOf([change], moment, actor), ...removed] };
  }

  #byId(id: string): Token | undefined {
    const hash = this.#environment.tokenIds.get(id);
    return hash === undefined ? undefined : this.#environment.tokens.get(hash);
  }

  #inOrder(isWanted: (token: Token) => boolean): Token[] {
    const tokens = [...this.#environment.tokens.getRange()].map(({ value }) => value).filter(isWanted);
    return tokens.sort((a, b) => (a.created_on < b.created_on ? -1 : 1));
  }

  /** Returns all tokens, or an empty list if their number alone shows that no limit is reached. */
  #tokensForLimits(): Token[] {
    const { tokens } = this.#environment;
    return tokens.getKeysCount() < MAX_VALID_IN_TREE ? [] : [...tokens.getRange()].map(({ value }) => value);
  }

  #removalOf({ id, hash }: Token): Write[] {
    const { tokens, tokenIds, tokenUses } = this.#environment;
    return [
      { database: tokens, key: hash },
      { database: tokenIds, key: id },
      { database: tokenUses, key: id },
    ];
  }

  /** Returns the records to write for changes of tokens. Each change gets a unique time. */
  #writesOf(changes: readonly Change[], first: Micros, actor: Actor): Write[] {
    const writes = changes.flatMap(({ action, before, after }, index) => {
      const entry = {
        ...stamp(first + index, actor),
        action,
        token: after.id,
        before: before && withoutHash(before),
        after: withoutHash(after),
      };
      return [
        { database: this.#environment.tokens, key: after.hash, value: after },
        { database: this.#environment.tokenIds, key: after.id, value: after.hash },
        auditWrite(this.#environment, first + index, entry),
      ];
    });
    return [...writes, this.#environment.clockAt(first + changes.length - 1)];
  }
}

interface Change {
  readonly action: 'token.create' | 'token.revoke';
  readonly before: Token | null;
  readonly after: Token;
}

function validTokens(tokens: readonly Token[], root: string | undefined, moment: string): ValidTokens {
  const valid = tokens.filter((token) => isValidAt(token, moment));
  return { total: valid.length, inTree: valid.filter((token) => rootOf(token) === root).length };
}
