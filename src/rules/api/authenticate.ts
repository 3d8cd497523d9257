import { timingSafeEqual } from 'node:crypto';
import {
  formatTimestamp,
  grants,
  hashSecret,
  operatorPermissions,
  type Permission,
  permissions,
  type Token,
  type TokenStore,
  wallClock,
} from '../index.ts';
import { ApiError } from './errors.ts';
import type { TokenUses } from './tokenUses.ts';

/** Who sends a request, and what for. */
export interface Caller {
  readonly tokenId: string;
  /** What the operator called the token; none where it has no label. */
  readonly label?: string;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly Permission[];
  readonly expiresOn: string | null;
}

/** Names the tokens from the configuration in the audit. */
const CONFIGURED_TOKEN_ID = 'configured';

// RFC 6750: the scheme without regard to case, then one b64token.
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

export interface AuthenticatorOptions {
  /** Those from the configuration. */
  readonly configuredTokens: readonly string[];
  readonly now?: () => number;
}

export interface AuthenticatorDependencies {
  readonly tokens: TokenStore;
  /** Hears of each use of a token of the store. */
  readonly uses: Pick<TokenUses, 'used' | 'refused'>;
}

/** Checks bearer tokens: those from the configuration, which may do anything, and those in the store. */
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

  /** The caller that an `Authorization` header names. The store is asked each time, so a revocation holds at once. */
  async authenticate(header: string | undefined): Promise<Caller> {
    if (header === undefined) throw unauthenticated('Bearer');
    const secret = bearer.exec(header)?.[1];
    if (secret === undefined) throw malformed();
    const hash = hashSecret(secret);
    if (this.#isConfigured(hash)) return configuredCaller;
    const token = await this.#tokens.findByHash(hash.toString('hex'));
    if (!token || !this.#isValid(token, hash)) {
      if (token) this.#uses.refused(token.id);
      throw unauthenticated('Bearer error="invalid_token"');
    }
    this.#uses.used(token.id);
    const { id, label, accounts, permissions, expires_on } = token;
    return { tokenId: id, ...(label && { label }), accounts, permissions, expiresOn: expires_on };
  }

  /** Compares with every one, so that the time taken tells nothing about which was nearly right. */
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

/** Whether the caller may do this to this account. */
export function isAuthorized(caller: Caller, accountId: string, permission: Permission): boolean {
  return isOf(caller, accountId) && grants(caller.permissions, permission);
}

/** Throws `forbidden` unless the caller may do this to this account. */
export function authorize(caller: Caller, accountId: string, permission: Permission): void {
  if (isAuthorized(caller, accountId, permission)) return;
  const lacking = isOf(caller, accountId)
    ? `the permission ${permission}`
    : accountId === SERVER
      ? 'all accounts'
      : 'this account';
  const chain = [
    { code: 9109, message: `Unauthorized to access requested resource: the token lacks ${lacking}` },
  ];
  throw new ApiError('forbidden', { chain });
}

/** The same for what is of no account in particular: of tokens each is looked at by itself. */
export function authorizeAnywhere(caller: Caller, permission: Permission): void {
  authorize({ ...caller, accounts: 'all' }, '', permission);
}

/** The same for what is of no account but of the server itself: only a token for every account may do it. */
export function authorizeOperator(caller: Caller, permission: Permission): void {
  authorize(caller, caller.accounts === 'all' ? '' : SERVER, permission);
}

const isOf = ({ accounts }: Caller, accountId: string): boolean =>
  accounts === 'all' || accounts.includes(accountId);

/** No account's id. */
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
