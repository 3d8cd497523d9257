import { timingSafeEqual } from 'node:crypto';
import {
  formatTimestamp,
  hashSecret,
  includesPermission,
  operatorPermissions,
  type Permission,
  permissions,
  type Token,
  type TokenStore,
  wallClock,
} from '../../index.ts';
import { ApiError } from './errors.ts';
import type { TokenUses } from './tokenUses.ts';

export interface Caller {
  readonly tokenId: string;
  /** Label of the token, if it has one. */
  readonly label?: string;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly Permission[];
  readonly expiresOn: string | null;
}

/** Id that the audit log contains for a token from the configuration. */
const CONFIGURED_TOKEN_ID = 'configured';

// `Authorization` header of RFC 6750: the scheme Bearer in any case, then one token.
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

export interface AuthenticatorOptions {
  readonly configuredTokens: readonly string[];
  readonly now?: () => number;
}

export interface AuthenticatorDependencies {
  readonly tokens: TokenStore;
  readonly uses: Pick<TokenUses, 'countValid' | 'countInvalid'>;
}

/** Authenticates requests by bearer token. Accepts stored tokens, and configured ones, which have all permissions. */
export class Authenticator {
  readonly #tokens: TokenStore;
  readonly #uses: AuthenticatorDependencies['uses'];
  readonly #configuredHashes: readonly Buffer[];
  readonly #now: () => number;

  constructor(
    { configuredTokens, now = wallClock }: AuthenticatorOptions,
    { tokens, uses }: AuthenticatorDependencies,
  ) {
    this.#tokens = tokens;
    this.#uses = uses;
    this.#configuredHashes = configuredTokens.map(hashSecret);
    this.#now = now;
  }

  /**
   * Returns the caller that an `Authorization` header names. Reads the store each time, so revocations work at once.
   */
  async authenticate(header: string | undefined): Promise<Caller> {
    if (header === undefined) throw unauthenticated('Bearer');
    const secret = bearer.exec(header)?.[1];
    if (secret === undefined) throw malformed();
    const hash = hashSecret(secret);
    if (this.#isConfigured(hash)) return configuredCaller;
    const token = await this.#tokens.findByHash(hash.toString('hex'));
    if (!token || !this.#isValid(token, hash)) {
      if (token) this.#uses.countInvalid(token.id);
      throw unauthenticated('Bearer error="invalid_token"');
    }
    this.#uses.countValid(token.id);
    const { id, label, accounts, permissions, expires_on } = token;
    return { tokenId: id, ...(label && { label }), accounts, permissions, expiresOn: expires_on };
  }

  /** Compares a hash with those of all configured tokens, so that the response time does not reveal a near match. */
  #isConfigured(hash: Buffer): boolean {
    let found = false;
    for (const configured of this.#configuredHashes) if (timingSafeEqual(configured, hash)) found = true;
    return found;
  }

  #isValid(token: Token, hash: Buffer): boolean {
    const same = timingSafeEqual(Buffer.from(token.hash, 'hex'), hash);
    const expired = token.expires_on !== null && token.expires_on <= formatTimestamp(this.#now());
    return same && !expired && token.revoked_on === null;
  }
}

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

const configuredCaller: Caller = {
  tokenId: CONFIGURED_TOKEN_ID,
  accounts: 'all',
  permissions: [...permissions, ...operatorPermissions],
  expiresOn: null,
};

function unauthenticated(challenge: string): ApiError {
  return new ApiError('unauthenticated', { headers: { 'www-authenticate': challenge } });
}

function malformed(): ApiError {
  const chain = [{ code: 6111, message: 'Invalid format for Authorization header' }];
  return new ApiError('malformedAuthorization', { chain });
}
