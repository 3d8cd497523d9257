/** Permissions that a token can have. As in Cloudflare's API, a write permission includes reading. */
export const permissions = [
  'dns_protection:read',
  'dns_protection:write',
  'dns_protection:audit',
  'tokens:read',
  'tokens:write',
] as const;
/** Default permissions of a new token. They exclude the audit log, which shows who made changes from where. */
export const ordinaryPermissions = ['dns_protection:read', 'dns_protection:write'] as const;
/** Permissions for operations on the server itself. Only tokens for all accounts can have them. */
export const operatorPermissions = [
  'nodes:read',
  'nodes:write',
  'health:read',
  'keys:read',
  'keys:write',
] as const;
export type Permission = (typeof permissions)[number] | (typeof operatorPermissions)[number];

/** Token as it is stored, with the hash of its secret instead of the secret. */
export interface Token {
  /** Public id of the token, 32 hex digits. The audit log and the command `token revoke` identify the token by it. */
  readonly id: string;
  readonly hash: string;
  /** Name that the operator gave to the token. */
  readonly label: string;
  readonly accounts: 'all' | readonly string[];
  readonly permissions: readonly Permission[];
  readonly created_on: string;
  readonly expires_on: string | null;
  readonly revoked_on: string | null;
  /** Creator of the token, as in the audit log. Older releases did not store it. */
  readonly created_by?: string;
  /** Id of the root of the tree of tokens. Undefined: this token is the root. */
  readonly root?: string;
}

/** Token to create, before the store sets its id and creation time. */
export type NewToken = Pick<Token, 'hash' | 'label' | 'accounts' | 'permissions' | 'expires_on'>;

/** Returns whether a token is valid at a time in the format of `formatTimestamp`. */
export function isValidAt(
  { revoked_on, expires_on }: Pick<Token, 'revoked_on' | 'expires_on'>,
  moment: string,
): boolean {
  return revoked_on === null && (expires_on === null || expires_on > moment);
}

/** Pattern of an account id: 1 to 32 letters, digits, `_` and `-`. */
export const accountIdPattern = '^[A-Za-z0-9_-]{1,32}$';
const accountId = new RegExp(accountIdPattern);

/** Description of a valid account id, for messages. */
export const allowedAccountId = '1 to 32 letters, digits, _ and -';

export function isAccountId(value: unknown): value is string {
  return typeof value === 'string' && accountId.test(value);
}

const tokenId = /^[0-9a-f]{32}$/;

/** Returns whether a string is a valid token id. */
export function isTokenId(text: string): boolean {
  return tokenId.test(text);
}
