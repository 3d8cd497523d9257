import { randomBytes } from 'node:crypto';
import {
  type Actor,
  formatTimestamp,
  isValidAt,
  MAX_VALID_TOKENS,
  type Micros,
  type NewToken,
  stamp,
  type Token,
  type TokenStore,
  TooManyTokens,
  withoutHash,
} from '../../index.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';

/** Length of a token id: 128 random bits, as in the ids that Cloudflare's token verification returns. */
const TOKEN_ID_BYTES = 16;

/** Tokens in LMDB, keyed by the hash of their secret, with an index by id. */
export class LmdbTokenStore implements TokenStore {
  readonly #environment: RulesEnvironment;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
  }

  async findByHash(hash: string): Promise<Token | undefined> {
    this.#environment.refresh();
    return this.#environment.tokens.get(hash);
  }

  async list(): Promise<readonly Token[]> {
    this.#environment.refresh();
    const tokens = [...this.#environment.tokens.getRange()].map((entry) => entry.value);
    return tokens.sort((a, b) => (a.created_on < b.created_on ? -1 : 1));
  }

  create(token: NewToken, actor: Actor): Promise<Token> {
    return this.#environment.commits.run(() => {
      const known = this.#environment.tokens.get(token.hash);
      if (known !== undefined) return { result: known, writes: [] };
      const moment = this.#environment.nextMoment();
      const created_on = formatTimestamp(moment);
      this.#refuseOneTooMany(created_on);
      const created: Token = {
        id: randomBytes(TOKEN_ID_BYTES).toString('hex'),
        ...token,
        ...{ created_on, revoked_on: null, created_by: actor.by },
      };
      return {
        result: created,
        writes: this.#writesOf({ action: 'token.create', before: null, after: created }, moment, actor),
      };
    });
  }

  revoke(tokenId: string, actor: Actor): Promise<Token | undefined> {
    return this.#environment.commits.run(() => {
      const hash = this.#environment.tokenIds.get(tokenId);
      const before = hash === undefined ? undefined : this.#environment.tokens.get(hash);
      if (!before || before.revoked_on !== null) return { result: before, writes: [] };
      const moment = this.#environment.nextMoment();
      const revoked: Token = { ...before, revoked_on: formatTimestamp(moment) };
      return {
        result: revoked,
        writes: this.#writesOf({ action: 'token.revoke', before, after: revoked }, moment, actor),
      };
    });
  }

  async lastUses(): Promise<ReadonlyMap<string, string>> {
    this.#environment.refresh();
    return new Map([...this.#environment.tokenUses.getRange()].map(({ key, value }) => [key, value]));
  }

  noteUses(uses: ReadonlyMap<string, string>): Promise<void> {
    const { tokenUses: database, commits } = this.#environment;
    return commits.run(() => ({
      result: undefined,
      writes: [...uses]
        .filter(([id, usedOn]) => usedOn > (database.get(id) ?? ''))
        .map(([key, value]) => ({ database, key, value })),
    }));
  }

  #refuseOneTooMany(moment: string): void {
    // Usually so few tokens exist, valid or not, that their number alone shows that the limit is not reached.
    if (this.#environment.tokens.getKeysCount() < MAX_VALID_TOKENS) return;
    let valid = 0;
    for (const { value } of this.#environment.tokens.getRange())
      if (isValidAt(value, moment) && ++valid >= MAX_VALID_TOKENS) throw new TooManyTokens(MAX_VALID_TOKENS);
  }

  #writesOf({ action, before, after }: Change, moment: Micros, actor: Actor) {
    const entry = {
      ...stamp(moment, actor),
      action,
      token: after.id,
      before: before && withoutHash(before),
      after: withoutHash(after),
    };
    return [
      { database: this.#environment.tokens, key: after.hash, value: after },
      { database: this.#environment.tokenIds, key: after.id, value: after.hash },
      auditWrite(this.#environment, moment, entry),
      this.#environment.clockAt(moment),
    ];
  }
}

interface Change {
  readonly action: 'token.create' | 'token.revoke';
  readonly before: Token | null;
  readonly after: Token;
}
