import { randomBytes } from 'node:crypto';
import {
  type Actor,
  formatTimestamp,
  type NewToken,
  stamp,
  type Token,
  type TokenChange,
  type TokenStore,
  withoutHash,
} from '../../index.ts';
import { ConnectionFailed } from './failures.ts';
import type { StoreParts } from './storeParts.ts';
import { queries } from './tables.ts';

/** 128 random bits: as long as the ids that Cloudflare's token verification shows. */
const TOKEN_ID_BYTES = 16;
/** How long a token is believed while the database is away: it may have been revoked meanwhile. */
const BELIEVED_MS = 5 * 60_000;
/** Tokens that are remembered for that, those used last: some 5 MB. */
const MAX_REMEMBERED = 10_000;

/** Tokens in PostgreSQL, at the hash of their secret. */
export class PostgresTokenStore implements TokenStore {
  readonly #parts: StoreParts;
  /** By hash. Compared with the database at each look that finds that tokens changed. */
  readonly #remembered = new Map<string, Token>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
    parts.feed.onTokens = () => this.#readAgain();
  }

  async findByHash(hash: string): Promise<Token | undefined> {
    try {
      const [row] = await this.#parts.connections.read(
        queries.selectFrom('tokens').select('token').where('hash', '=', hash).compile(),
      );
      this.#remember(hash, row?.token);
      return row?.token;
    } catch (error) {
      const token = this.#remembered.get(hash);
      const isBelieved = error instanceof ConnectionFailed && this.#parts.feed.ageMs <= BELIEVED_MS;
      if (token === undefined || !isBelieved) throw error;
      return token;
    }
  }

  async list(): Promise<readonly Token[]> {
    const query = queries.selectFrom('tokens').select('token').orderBy('created_on').compile();
    return (await this.#parts.connections.read(query)).map(({ token }) => token);
  }

  create(token: NewToken, actor: Actor): Promise<Token> {
    return this.#parts.commits.run(async (transaction) => {
      const moment = transaction.nextMoment();
      const created_on = formatTimestamp(moment);
      const id = randomBytes(TOKEN_ID_BYTES).toString('hex');
      const created: Token = { id, ...token, created_on, revoked_on: null };
      const change: TokenChange = {
        ...stamp(moment, actor),
        ...{ action: 'token.create', token: id, before: null, after: withoutHash(created) },
      };
      const row = { hash: token.hash, id, created_on, token: JSON.stringify(created) };
      await transaction.write(queries.insertInto('tokens').values(row), [change]);
      return created;
    });
  }

  revoke(tokenId: string, actor: Actor): Promise<Token | undefined> {
    return this.#parts.commits.run(async (transaction) => {
      const [row] = await transaction.read(
        queries.selectFrom('tokens').select('token').where('id', '=', tokenId).compile(),
      );
      const before = row?.token;
      if (before === undefined || before.revoked_on !== null) return before;
      const moment = transaction.nextMoment();
      const revoked: Token = { ...before, revoked_on: formatTimestamp(moment) };
      const change: TokenChange = {
        ...stamp(moment, actor),
        ...{
          action: 'token.revoke',
          token: tokenId,
          before: withoutHash(before),
          after: withoutHash(revoked),
        },
      };
      const query = queries
        .updateTable('tokens')
        .set({ token: JSON.stringify(revoked) })
        .where('id', '=', tokenId);
      await transaction.write(query, [change]);
      return revoked;
    });
  }

  async #readAgain(): Promise<void> {
    const hashes = [...this.#remembered.keys()];
    if (hashes.length === 0) return;
    const rows = await this.#parts.connections.read(
      queries.selectFrom('tokens').select(['hash', 'token']).where('hash', 'in', hashes).compile(),
      { evenIfAway: true },
    );
    const tokens = new Map(rows.map(({ hash, token }) => [hash, token]));
    for (const hash of hashes) this.#remember(hash, tokens.get(hash));
  }

  #remember(hash: string, token: Token | undefined): void {
    this.#remembered.delete(hash);
    if (token === undefined) return;
    this.#remembered.set(hash, token);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }
}
