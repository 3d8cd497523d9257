import {
  beyondGrant,
  checkNewToken,
  formatTimestamp,
  hashSecret,
  isTokenId,
  isValidAt,
  KeyReused,
  type NewToken,
  type Token,
  type TokenRequest,
  type TokenStore,
  tokenSecretOf,
  wallClock,
} from '../index.ts';
import type { Caller } from './authenticate.ts';
import { type EnvelopeEntry, successEnvelope } from './envelope.ts';
import { ApiError } from './errors.ts';
import { readPageRequest, slicePage } from './paging.ts';
import { parseBody } from './parseBody.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';
import { readRetryKey } from './retryKey.ts';
import { notFound } from './ruleHandlers.ts';
import type { SecretSeeds } from './secretSeeds.ts';
import type { TokenUses } from './tokenUses.ts';

type Handler = (request: ApiRequest) => Promise<ApiAnswer>;

export interface TokenHandlers {
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly revoke: Handler;
}

export interface TokenHandlersDependencies {
  readonly tokens: TokenStore;
  readonly uses: TokenUses;
  readonly seeds: SecretSeeds;
}

/** Code of the message that tells of tokens which a revoked one made. */
const OFFSPRING_CODE = 10111;
/** Ids that the message lists. */
const MAX_IDS_LISTED = 10;
/** An answer with a secret is nobody's to keep. */
const NO_STORE = { 'cache-control': 'no-store' };

/** Stand where ids of tokens do, and are only read. */
const READ_ALONE: readonly string[] = ['current', 'verify'];

/** What each operation on tokens does, between an authenticated request and its envelope. */
export function tokenHandlers({ tokens, uses, seeds }: TokenHandlersDependencies): TokenHandlers {
  const show = (token: Token, lastUses: ReadonlyMap<string, string>): object => ({
    ...viewOf(token),
    ...optional('last_used_on', lastUses.get(token.id)),
    requests: uses.requestsOf(token.id),
  });
  const shown = async (token: Token): Promise<object> => show(token, await uses.lastUses());
  const visible = async (caller: Caller): Promise<readonly Token[]> =>
    (await tokens.list()).filter((token) => isVisibleTo(caller, token));
  const found = async ({ caller, tokenId, path }: ApiRequest): Promise<Token> => {
    const id = tokenId.toLowerCase();
    const token = isTokenId(id) ? (await visible(caller)).find((one) => one.id === id) : undefined;
    if (!token) throw notFound({ path });
    return token;
  };

  return {
    async list({ caller, query }) {
      const { page, per_page } = query;
      const { page: number, perPage } = readPageRequest({ page, per_page });
      const { result, resultInfo } = slicePage(await visible(caller), { page: number, perPage });
      const lastUses = await uses.lastUses();
      return {
        body: successEnvelope(
          result.map((token) => show(token, lastUses)),
          { resultInfo },
        ),
      };
    },

    async create({ caller, actor, headers, body }) {
      const retryKey = readRetryKey(headers['idempotency-key']);
      const asked = grantOf(caller, checkNewToken(parseBody(body), wallClock()));
      const value = tokenSecretOf(seeds.of('token', caller.tokenId, retryKey));
      const wanted: NewToken = { ...asked, hash: hashSecret(value).toString('hex') };
      const first = retryKey === undefined ? undefined : await tokens.findByHash(wanted.hash);
      const token = first ?? (await tokens.create(wanted, actor));
      if (!isAsWanted(token, wanted)) throw new KeyReused();
      return {
        body: successEnvelope({ ...(await shown(token)), value }),
        headers: { ...NO_STORE, ...(first && { 'idempotent-replayed': 'true' }) },
      };
    },

    async read(request) {
      return { body: successEnvelope(await shown(await found(request))) };
    },

    async revoke(request) {
      if (READ_ALONE.includes(request.tokenId))
        throw new ApiError('methodNotAllowed', { headers: { allow: 'GET, HEAD' } });
      const token = await found(request);
      // Its expiry is nothing that it may do: a token ends others that live longer.
      const faults = beyondGrant({ ...ownGrant(request.caller), expires_on: null }, token);
      if (faults.length > 0) throw new ApiError('forbidden', { faults });
      const revoked = await tokens.revoke(token.id, request.actor);
      if (!revoked) throw notFound(request);
      const messages = offspringMessages(token.id, await visible(request.caller));
      return { body: successEnvelope(await shown(revoked), { messages }) };
    },
  };
}

const ownGrant = ({ accounts, permissions, expiresOn }: Caller) => ({
  ...{ accounts, permissions },
  expires_on: expiresOn,
});

/** Whoever asks sees the tokens of its own accounts alone: of others not even that there are any. */
const isVisibleTo = ({ accounts }: Caller, token: Token): boolean =>
  accounts === 'all' ||
  (token.accounts !== 'all' && token.accounts.every((account) => accounts.includes(account)));

/** What was asked for, as far as the caller can grant it. Throws `forbidden`. */
function grantOf(caller: Caller, { expires_on, ...asked }: TokenRequest): Omit<NewToken, 'hash'> {
  const wanted = { ...asked, expires_on: expires_on ?? caller.expiresOn };
  const faults = beyondGrant(ownGrant(caller), wanted);
  if (faults.length > 0) throw new ApiError('forbidden', { faults });
  return wanted;
}

/** Whether the first answer to a retry key is one to this request, too. */
function isAsWanted(token: Token, wanted: NewToken): boolean {
  const asText = ({ label, accounts, permissions, expires_on }: NewToken): string =>
    JSON.stringify([label, accounts, permissions, expires_on]);
  return asText(token) === asText(wanted);
}

function viewOf({ id, label, accounts, permissions, created_on, ...rest }: Token): object {
  return {
    ...{ id, label, status: statusOf(rest) },
    all_accounts: accounts === 'all',
    accounts: accounts === 'all' ? [] : accounts,
    ...{ permissions, created_on },
    ...optional('created_by', rest.created_by),
    ...optional('expires_on', rest.expires_on),
    ...optional('revoked_on', rest.revoked_on),
  };
}

function statusOf(token: Pick<Token, 'revoked_on' | 'expires_on'>): 'active' | 'revoked' | 'expired' {
  if (token.revoked_on !== null) return 'revoked';
  return isValidAt(token, formatTimestamp(wallClock())) ? 'active' : 'expired';
}

const optional = (member: string, value: string | null | undefined): object =>
  value === null || value === undefined ? {} : { [member]: value };

/** A token that leaked may have made others: whoever revokes it is told of those that are still valid. */
function offspringMessages(id: string, tokens: readonly Token[]): EnvelopeEntry[] {
  const now = formatTimestamp(wallClock());
  const ids = tokens.filter((token) => token.created_by === id && isValidAt(token, now)).map((one) => one.id);
  if (ids.length === 0) return [];
  const more = ids.length > MAX_IDS_LISTED ? ` and ${ids.length - MAX_IDS_LISTED} more` : '';
  return [
    {
      code: OFFSPRING_CODE,
      message: `Tokens that it made are still valid: ${ids.slice(0, MAX_IDS_LISTED).join(', ')}${more}`,
    },
  ];
}
