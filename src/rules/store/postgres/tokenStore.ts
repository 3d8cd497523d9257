import { randomBytes } from 'node:crypto';
import {
  type Actor,
  checkTokenLimits,
  displacedTokens,
  formatTimestamp,
  MAX_ENDED_TOKENS,
  type NewToken,
  type RevokedTokens,
  rootOf,
  type StoreRows,
  stamp,
  type Token,
  type TokenChange,
  type TokenStore,
  tokenBy,
  type ValidTokens,
  validDescendants,
  withoutHash,
} from '../../index.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import type { StoreParts } from './storeParts.ts';
import type { Transaction } from './transaction.ts';

/** Length of a token id: 128 random bits, as in the ids that Cloudflare's token verification returns. */
const TOKEN_ID_BYTES = 16;
/** Maximum age of cached tokens if the database is unreachable. Until then, a revoked token may still be accepted. */
const MAX_CACHED_TOKEN_AGE_MS = 5 * 60_000;
/** Maximum number of cached tokens, which use about 5 MB. The least recently used token is evicted. */
const MAX_REMEMBERED = 10_000;

const BY_HASH = 'SELECT token FROM floodgate.tokens WHERE hash = $1';
const BY_HASHES = 'SELECT hash, token FROM floodgate.tokens WHERE hash = ANY($1)';
const BY_ID = 'SELECT token FROM floodgate.tokens WHERE id = $1';
const ALL = 'SELECT token FROM floodgate.tokens ORDER BY created_on';
const CREATE = 'INSERT INTO floodgate.tokens (hash, id, created_on, token) VALUES ($1, $2, $3, $4)';
const COUNT = `SELECT (count(*) FILTER (WHERE is_valid))::bigint AS total,
    (count(*) FILTER (WHERE is_valid AND coalesce(token->>'root', id) = $2))::bigint AS "inTree",
    (count(*) FILTER (WHERE NOT is_valid))::bigint AS ended
  FROM (SELECT id, token, token->>'revoked_on' IS NULL
      AND (token->>'expires_on' IS NULL OR (token->>'expires_on') COLLATE "C" > $1) AS is_valid
    FROM floodgate.tokens) AS t`;
const TREE = `SELECT token FROM floodgate.tokens WHERE coalesce(token->>'root', id) = $1 ORDER BY created_on`;
const REVOKE = `UPDATE floodgate.tokens AS t SET token = r.token
  FROM unnest($1::text[], $2::json[]) AS r (id, token) WHERE t.id = r.id`;
const REMOVE = 'DELETE FROM floodgate.tokens WHERE id = ANY($1)';
const REMOVE_USES = 'DELETE FROM floodgate.token_uses WHERE id = ANY($1)';
const NOTE_USES = `INSERT INTO floodgate.token_uses AS u (id, used_on)
  SELECT * FROM unnest($1::text[], $2::text[]) AS n (id, used_on) WHERE id IN (SELECT id FROM floodgate.tokens)
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
      const [row] = await this.#parts.connections.read(statement<{ token: Token }>(BY_HASH, [hash]));
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
    return (await this.#parts.connections.read(statement<{ token: Token }>(ALL))).map(({ token }) => token);
  }

  create(token: NewToken, actor: Actor): Promise<Token> {
    return this.#parts.commits.run(actor.by, async (transaction) => {
      const [known] = await transaction.read(statement<{ token: Token }>(BY_HASH, [token.hash]));
      if (known !== undefined) return known.token;
      const moment = transaction.nextMoment();
      const created_on = formatTimestamp(moment);
      const creator = await tokenWithId(transaction, actor.by);
      const now = formatTimestamp(transaction.wallClock);
      const wanted = tokenBy({ creator, by: actor.by }, token, now);
      const counted = statement<TokenCounts>(COUNT, [created_on, wanted.root ?? null]);
      const [valid = { total: 0, inTree: 0, ended: 0 }] = await transaction.read(counted);
      checkTokenLimits(creator, valid);
      const id = randomBytes(TOKEN_ID_BYTES).toString('hex');
      const created: Token = { id, ...wanted, created_on, revoked_on: null, created_by: actor.by };
      const change: TokenChange = {
        ...stamp(moment, actor),
        action: 'token.create',
        token: id,
        before: null,
        after: withoutHash(created),
      };
      const row = [token.hash, id, created_on, JSON.stringify(created)];
      await transaction.write(statement(CREATE, row), [change]);
      if (valid.ended > MAX_ENDED_TOKENS) await removeDisplaced(transaction, now);
      return created;
    });
  }

  revoke(tokenId: string, actor: Actor): Promise<RevokedTokens | undefined> {
    return this.#parts.commits.run(actor.by, async (transaction) => {
      const token = await tokenWithId(transaction, tokenId);
      if (token === undefined) return undefined;
      if (token.revoked_on !== null) return { token, descendants: [] };
      const rows = await transaction.read(statement<{ token: Token }>(TREE, [rootOf(token)]));
      const tree = rows.map((row) => row.token);
      const now = formatTimestamp(transaction.wallClock);
      const ended = [token, ...validDescendants(tokenId, tree, now)];
      const first = transaction.nextMoment(ended.length);
      const revoked_on = formatTimestamp(first);
      const revoked = ended.map((before): Token => ({ ...before, revoked_on }));
      const changes = ended.map((before, index): TokenChange => {
        const after = withoutHash({ ...before, revoked_on });
        const change = {
          action: 'token.revoke',
          token: before.id,
          before: withoutHash(before),
          after,
        } as const;
        return { ...stamp(first + index, actor), ...change };
      });
      const parameters = [revoked.map(({ id }) => id), revoked.map((one) => JSON.stringify(one))];
      await transaction.write(statement(REVOKE, parameters), changes);
      return { token: { ...token, revoked_on }, descendants: revoked.slice(1) };
    });
  }

  async lastUses(): Promise<ReadonlyMap<string, string>> {
    const query = statement<StoreRows['token_uses']>('SELECT * FROM floodgate.token_uses');
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
      statement<{ hash: string; token: Token }>(BY_HASHES, [hashes]),
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

interface TokenCounts extends ValidTokens {
  readonly ended: number;
}

async function removeDisplaced(transaction: Transaction, now: string): Promise<void> {
  const rows = await transaction.read(statement<{ token: Token }>(ALL));
  const displaced = displacedTokens(
    rows.map(({ token }) => token),
    now,
  );
  const ids = displaced.map(({ id }) => id);
  await transaction.writeUnaudited(statement(REMOVE, [ids]));
  await transaction.writeUnaudited(statement(REMOVE_USES, [ids]));
}

async function tokenWithId(transaction: Transaction, id: string): Promise<Token | undefined> {
  const [row] = await transaction.read(statement<{ token: Token }>(BY_ID, [id]));
  return row?.token;
}
