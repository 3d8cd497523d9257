import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { addressOfSocket } from '../../../platform/addresses/index.ts';
import { Slots } from '../../../platform/budgets/index.ts';
import { clientOf } from '../../../platform/http/index.ts';
import {
  configuredTokenId,
  formatTimestamp,
  hashSecret,
  includesPermission,
  operatorPermissions,
  type Permission,
  permissions,
  rootOf,
  type Session,
  type Token,
  type TokenStore,
  wallClock,
} from '../../index.ts';
import type { ConsoleSessions } from './consoleSessions.ts';
import { ApiError, errorTable, invalidToken } from './errors.ts';
import type { Credentials } from './sessionCookies.ts';
import type { TokenUses } from './tokenUses.ts';

export interface Caller {
  readonly tokenId: string;
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string;
  /** Id of the root of the token's tree, by which requests are limited. */
  readonly rootId: string;
  /** Label of the token, if it has one. */
  readonly label?: string;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly Permission[];
  readonly expiresOn: string | null;
}

// `Authorization` header of RFC 6750: the scheme Bearer in any case, then one token.
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

interface Found {
  readonly caller: Caller;
  readonly isConfigured: boolean;
}

/**
 * Maximum number of look-ups of tokens or sessions at the same time. Other queries need connections to the database
 * too, and clients without a valid token must not delay those of others.
 */
export const LOOK_UPS = { total: 4, perClient: 3 };

export interface AuthenticatorOptions {
  readonly configuredTokens: readonly string[];
  readonly now?: () => number;
}

export interface AuthenticatorDependencies {
  readonly tokens: TokenStore;
  readonly uses: Pick<TokenUses, 'countValid' | 'countInvalid'>;
  /** Sessions of the console. Default: requests authenticate by token only. */
  readonly sessions?: ConsoleSessions | undefined;
}

/**
 * Authenticates requests by bearer token, or by a session of the console, which stands for its token. Accepts stored
 * tokens, and configured ones, which have all permissions.
 */
export class Authenticator {
  readonly #tokens: TokenStore;
  readonly #uses: AuthenticatorDependencies['uses'];
  readonly #sessions: ConsoleSessions | undefined;
  readonly #configured: readonly { readonly hash: Buffer; readonly caller: Caller }[];
  readonly #now: () => number;
  /** Limits the look-ups of new requests. Further ones wait, and clients are served alternately. */
  readonly #lookUps = new Slots(LOOK_UPS);

  constructor(
    { configuredTokens, now = wallClock }: AuthenticatorOptions,
    { tokens, uses, sessions }: AuthenticatorDependencies,
  ) {
    this.#tokens = tokens;
    this.#uses = uses;
    this.#sessions = sessions;
    this.#configured = configuredTokens.map((secret) => {
      const hash = hashSecret(secret);
      return { hash, caller: callerOfConfigured(hash) };
    });
    this.#now = now;
  }

  /** Returns the credentials of a request. */
  credentialsOf(request: IncomingMessage): Credentials {
    return this.#sessions?.cookies.credentialsOf(request) ?? { authorization: request.headers.authorization };
  }

  /** Returns the caller that the credentials of a new request name, and counts the request. */
  async authenticate(credentials: Credentials, request: IncomingMessage): Promise<Caller> {
    const invalid = (token: Token): void => this.#uses.countInvalid(token.id);
    const { caller, isConfigured } = await this.#findInTurn(credentials, request, invalid);
    if (!isConfigured) this.#uses.countValid(caller.tokenId);
    return caller;
  }

  /**
   * Returns the caller of a request or stream that was authenticated before. Throws `ApiError` if its token or session
   * has ended since. `request`: a new request that is not counted.
   */
  async authenticateAgain(credentials: Credentials, request?: IncomingMessage): Promise<Caller> {
    const found = request === undefined ? this.#find(credentials) : this.#findInTurn(credentials, request);
    return (await found).caller;
  }

  /** Finds a caller, within the limit of look-ups. Looks up nothing for a client that has disconnected. */
  #findInTurn(
    credentials: Credentials,
    request: IncomingMessage,
    invalid?: (token: Token) => void,
  ): Promise<Found> {
    return this.#lookUps.run(clientOf(request, addressOfSocket), async () => {
      if (request.socket.destroyed) throw missingToken();
      return this.#find(credentials, invalid);
    });
  }

  /** Reads the store each time, so revocations work at once. */
  async #find(credentials: Credentials, invalid: (token: Token) => void = () => undefined): Promise<Found> {
    const hash = await this.#tokenHashOf(credentials);
    const configured = this.#configuredCaller(hash);
    if (configured) return { caller: configured, isConfigured: true };
    const token = await this.#tokens.findByHash(hash.toString('hex'));
    if (!token || !this.#isValid(token, hash)) {
      if (token) invalid(token);
      throw invalidToken();
    }
    const { id: tokenId, label, accounts, permissions, expires_on: expiresOn } = token;
    const rootId = rootOf(token);
    const tokenHash = token.hash;
    const caller = { tokenId, tokenHash, rootId, ...(label && { label }), accounts, permissions, expiresOn };
    return { caller, isConfigured: false };
  }

  async #tokenHashOf({ authorization, session }: Credentials): Promise<Buffer> {
    if (authorization !== undefined) {
      const secret = bearer.exec(authorization)?.[1];
      if (secret === undefined) throw malformed();
      return hashSecret(secret);
    }
    if (session === undefined) throw missingToken();
    const found = await this.#sessions?.find(session);
    if (found === undefined) throw invalidToken();
    return Buffer.from(found.token.hash, 'hex');
  }

  /** Compares a hash with those of all configured tokens, so that the response time does not reveal a near match. */
  #configuredCaller(hash: Buffer): Caller | undefined {
    let found: Caller | undefined;
    for (const configured of this.#configured)
      if (timingSafeEqual(configured.hash, hash)) found = configured.caller;
    return found;
  }

  #isValid(token: Token, hash: Buffer): boolean {
    const same = timingSafeEqual(Buffer.from(token.hash, 'hex'), hash);
    const expired = token.expires_on !== null && token.expires_on <= formatTimestamp(this.#now());
    return same && !expired && token.revoked_on === null;
  }
}

/** Returns the token of a caller, as a session stores it. */
export const tokenOf = ({ tokenId, tokenHash, rootId }: Caller): Session['token'] => ({
  id: tokenId,
  hash: tokenHash,
  root: rootId,
});

export function isAuthorized(caller: Caller, accountId: string, permission: Permission): boolean {
  return hasAccount(caller, accountId) && includesPermission(caller.permissions, permission);
}

export function authorize(caller: Caller, accountId: string, permission: Permission): void {
  if (isAuthorized(caller, accountId, permission)) return;
  const lacking = hasAccount(caller, accountId)
    ? `the permission ${permission}`
    : accountId === SERVER
      ? 'all accounts'
      : 'this account';
  const chain = [
    { code: 9109, message: `Unauthorized to access requested resource: the token lacks ${lacking}` },
  ];
  throw new ApiError('forbidden', { chain });
}

/** Throws `forbidden` unless the caller has the permission for some account. Handlers check for which accounts. */
export function authorizeAnyAccount(caller: Caller, permission: Permission): void {
  authorize({ ...caller, accounts: 'all' }, '', permission);
}

/** Throws `forbidden` unless the caller has the permission, and its token is for all accounts. */
export function authorizeOperator(caller: Caller, permission: Permission): void {
  authorize(caller, caller.accounts === 'all' ? '' : SERVER, permission);
}

const hasAccount = ({ accounts }: Caller, accountId: string): boolean =>
  accounts === 'all' || accounts.includes(accountId);

/** Passed instead of an account id for operations on the server. It is not a valid account id. */
const SERVER = 'the server';

function callerOfConfigured(hash: Buffer): Caller {
  const id = configuredTokenId(hash);
  return {
    tokenId: id,
    tokenHash: hash.toString('hex'),
    rootId: id,
    accounts: 'all',
    expiresOn: null,
    permissions: [...permissions, ...operatorPermissions],
  };
}

function missingToken(): ApiError {
  const message = 'The request has no token: send the header Authorization: Bearer TOKEN';
  return new ApiError('unauthenticated', {
    headers: { 'www-authenticate': 'Bearer' },
    chain: [{ code: errorTable.unauthenticated.code, message }],
  });
}

function malformed(): ApiError {
  const chain = [{ code: 6111, message: 'Invalid format for Authorization header' }];
  return new ApiError('malformedAuthorization', { chain });
}
