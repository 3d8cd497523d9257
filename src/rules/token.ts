/** What a token allows. As with Cloudflare's tokens a write permission also reads. */
export const permissions = [
  'dns_protection:read',
  'dns_protection:write',
  'dns_protection:audit',
  'tokens:read',
  'tokens:write',
] as const;
/** What a token allows where nothing else is said. Who changed what, and from where, is not everybody's to read. */
export const ordinaryPermissions = ['dns_protection:read', 'dns_protection:write'] as const;
/** What a token for every account may allow besides: what is of the server and of no account. */
export const operatorPermissions = [
  'nodes:read',
  'nodes:write',
  'health:read',
  'keys:read',
  'keys:write',
] as const;
export type Permission = (typeof permissions)[number] | (typeof operatorPermissions)[number];

/** A token as it is kept: never the secret, only its hash. */
export interface Token {
  /** 32 hex digits. Names the token in the audit and in `token revoke`; it is no secret. */
  readonly id: string;
  /** SHA-256 of the secret as 64 hex digits. */
  readonly hash: string;
  /** What the operator called it. */
  readonly label: string;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly Permission[];
  /** Timestamps as `formatTimestamp` writes them. */
  readonly created_on: string;
  readonly expires_on: string | null;
  readonly revoked_on: string | null;
  /** Who made it, as the audit names them. Unknown of what an older version made. */
  readonly created_by?: string;
}

/** Tokens that may be valid at one time: one more is refused. */
export const MAX_VALID_TOKENS = 1000;

/** A token before the store gives it an id and a moment of creation. */
export type NewToken = Pick<Token, 'hash' | 'label' | 'accounts' | 'permissions' | 'expires_on'>;

/** Whether a token works at a moment, as `formatTimestamp` writes it. */
export function isValidAt(
  { revoked_on, expires_on }: Pick<Token, 'revoked_on' | 'expires_on'>,
  moment: string,
): boolean {
  return revoked_on === null && (expires_on === null || expires_on > moment);
}

/** 1 to 32 of letters, digits, `_` and `-`. */
export const accountIdPattern = '^[A-Za-z0-9_-]{1,32}$';
const accountId = new RegExp(accountIdPattern);

/** What an account id may be, for messages. */
export const allowedAccountId = '1 to 32 letters, digits, _ and -';

export function isAccountId(value: unknown): value is string {
  return typeof value === 'string' && accountId.test(value);
}

const tokenId = /^[0-9a-f]{32}$/;

/** Whether a text can be the id of a token. */
export function isTokenId(text: string): boolean {
  return tokenId.test(text);
}
