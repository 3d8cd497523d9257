import { randomBytes } from 'node:crypto';
import {
  type Actor,
  formatTimestamp,
  MAX_VALID_TOKENS,
  type NewToken,
  stamp,
  type Token,
  type TokenChange,
  type TokenStore,
  TooManyTokens,
  withoutHash,
} from '../../index.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import type { StoreParts } from './storeParts.ts';
import { queries } from './tables.ts';

/** Length of a token id: 128 random bits, as in the ids that Cloudflare's token verification returns. */
const TOKEN_ID_BYTES = 16;
/** Maximum age of cached tokens if the database is unreachable. Until then, a revoked token may still be accepted. */
const MAX_CACHED_TOKEN_AGE_MS = 5 * 60_000;
/** Maximum number of cached tokens, which use about 5 MB. The least recently used token is evicted. */
const MAX_REMEMBERED = 10_000;

const COUNT_VALID = `SELECT count(*)::bigint AS count FROM floodgate.tokens
  WHERE token->>'revoked_on' IS NULL AND (token->>'expires_on' IS NULL OR (token->>'expires_on') COLLATE "C" > $1)`;
const NOTE_USES = `INSERT INTO floodgate.token_uses AS u (id, used_on) SELECT * FROM unnest($1::text[], $2::text[])
  ON CONFLICT (id) DO UPDATE SET used_on = greatest(u.used_on, excluded.used_on)`;

/** Tokens in PostgreSQL, keyed by the hash of their secret. */
export class PostgresTokenStore implements TokenStore {
  readonly #parts: StoreParts;
  /** Cached tokens by hash. All are read again when a poll detects a change of tokens. */
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
      const isBelieved =
        error instanceof ConnectionFailed && this.#parts.feed.ageMs <= MAX_CACHED_TOKEN_AGE_MS;
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
      const [known] = await transaction.read(
        queries.selectFrom('tokens').select('token').where('hash', '=', token.hash).compile(),
      );
      if (known !== undefined) return known.token;
      const moment = transaction.nextMoment();
      const created_on = formatTimestamp(moment);
      const [valid] = await transaction.read(statement<{ count: number }>(COUNT_VALID, [created_on]));
      if ((valid?.count ?? 0) >= MAX_VALID_TOKENS) throw new TooManyTokens(MAX_VALID_TOKENS);
      const id = randomBytes(TOKEN_ID_BYTES).toString('hex');
      const created: Token = { id, ...token, created_on, revoked_on: null, created_by: actor.by };
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

  async lastUses(): Promise<ReadonlyMap<string, string>> {
    const query = queries.selectFrom('token_uses').selectAll().compile();
    return new Map((await this.#parts.connections.read(query)).map(({ id, used_on }) => [id, used_on]));
  }

  /** Runs as a single statement outside the `CommitQueue`, so that it does not lock the clock row. */
  async noteUses(uses: ReadonlyMap<string, string>): Promise<void> {
    const { connections } = this.#parts;
    connections.assertReachable();
    await connections.withRetries((connection) =>
      connection.query(statement(NOTE_USES, [[...uses.keys()], [...uses.values()]])),
    );
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
