import {
  checkNewToken,
  type Fault,
  grantViolations,
  hashSecret,
  isTokenId,
  KeyReused,
  type NewToken,
  type Token,
  type TokenRequest,
  type TokenStore,
  tokenSecretOf,
  tokenView,
  wallClock,
} from '../../index.ts';
import type { Caller } from '../http/authenticate.ts';
import { type EnvelopeEntry, successEnvelope } from '../http/envelope.ts';
import { ApiError, methodNotAllowed } from '../http/errors.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import { parseBody } from '../http/parseBody.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import type { TokenUses } from '../http/tokenUses.ts';
import { notFound } from './collectionHandlers.ts';
import { readRetryKey } from './retryKey.ts';
import type { SecretSeeds } from './secretSeeds.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

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

/** Code of the message that lists the tokens that were revoked with their creator. */
const CHILD_TOKENS_CODE = 10111;
const MAX_IDS_LISTED = 10;
const NO_STORE = { 'cache-control': 'no-store' };

/** Words that a path can contain instead of a token id. Paths with these words support only GET. */
const READ_ONLY_NAMES: readonly string[] = ['current', 'verify'];

export function tokenHandlers({ tokens, uses, seeds }: TokenHandlersDependencies): TokenHandlers {
  const show = (token: Token, lastUses: ReadonlyMap<string, string>): object => ({
    ...tokenView(token),
    ...(lastUses.has(token.id) && { last_used_on: lastUses.get(token.id) }),
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
      if (!matchesRequest(token, wanted)) throw new KeyReused();
      return {
        body: successEnvelope({ ...(await shown(token)), value }),
        headers: { ...NO_STORE, ...(first && { 'idempotent-replayed': 'true' }) },
      };
    },

    async read(request) {
      return { body: successEnvelope(await shown(await found(request))) };
    },

    async revoke(request) {
      if (READ_ONLY_NAMES.includes(request.tokenId)) throw methodNotAllowed('DELETE', 'GET, HEAD');
      const token = await found(request);
      const faults = revocationFaults(request.caller, token);
      if (faults.length > 0) throw new ApiError('forbidden', { faults });
      const revoked = await tokens.revoke(token.id, request.actor);
      if (!revoked) throw notFound(request);
      const messages = descendantMessages(revoked.descendants);
      return { body: successEnvelope(await shown(revoked.token), { messages }) };
    },
  };
}

const ownGrant = ({ accounts, permissions, expiresOn }: Caller) => ({
  accounts,
  permissions,
  expires_on: expiresOn,
});

/**
 * Returns whether a caller may see a token: only if the caller's token is for all accounts of the token. A token that
 * the caller may not see seems not to exist.
 */
export const isVisibleTo = ({ accounts }: Caller, token: Pick<Token, 'accounts'>): boolean =>
  accounts === 'all' ||
  (token.accounts !== 'all' && token.accounts.every((account) => accounts.includes(account)));

/**
 * Returns a fault for each reason why a caller may not revoke a token. Only accounts and permissions are compared: a
 * token may revoke a token that expires later than itself.
 */
export const revocationFaults = (caller: Caller, token: Token): Fault[] =>
  grantViolations({ ...ownGrant(caller), expires_on: null }, token);

/** Returns the settings of the requested token. Throws `forbidden` if they exceed what the caller's token allows. */
function grantOf(caller: Caller, { expires_on, ...asked }: TokenRequest): Omit<NewToken, 'hash'> {
  const wanted = { ...asked, expires_on: expires_on ?? caller.expiresOn };
  const faults = grantViolations(ownGrant(caller), wanted);
  if (faults.length > 0) throw new ApiError('forbidden', { faults });
  return wanted;
}

/** Returns whether a token that was created with the same retry key has the settings of this request. */
function matchesRequest(token: Token, wanted: NewToken): boolean {
  const asText = ({ label, accounts, permissions, expires_on }: NewToken): string =>
    JSON.stringify([label, accounts, permissions, expires_on]);
  return asText(token) === asText(wanted);
}

/** Returns a message with the tokens that were revoked with their creator. */
function descendantMessages(tokens: readonly Token[]): EnvelopeEntry[] {
  const ids = tokens.map(({ id }) => id);
  if (ids.length === 0) return [];
  const more = ids.length > MAX_IDS_LISTED ? ` and ${ids.length - MAX_IDS_LISTED} more` : '';
  return [
    {
      code: CHILD_TOKENS_CODE,
      message: `Tokens that it created were revoked too: ${ids.slice(0, MAX_IDS_LISTED).join(', ')}${more}`,
    },
  ];
}
