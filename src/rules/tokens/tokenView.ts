import { formatTimestamp, wallClock } from '../timestamp.ts';
import { isValidAt, type Permission, type Token } from './token.ts';

/** Settings of a token in the form of the rules API, which omits members that are not set. */
export interface TokenSettingsView {
  readonly label: string;
  readonly all_accounts: boolean;
  /** Empty if the token is for all accounts. */
  readonly accounts: readonly string[];
  readonly permissions: readonly Permission[];
  readonly created_on: string;
  readonly created_by?: string;
  readonly expires_on?: string;
  readonly revoked_on?: string;
}

/** A token in the form of the rules API. */
export interface TokenView extends TokenSettingsView {
  readonly id: string;
  readonly status: 'active' | 'revoked' | 'expired';
}

export function tokenView(token: Token): TokenView {
  const { label, ...settings } = tokenSettingsView(token);
  return { id: token.id, label, status: statusOf(token), ...settings };
}

/** Returns a token in the form of the audit over the API. */
export const tokenSettingsView = ({ accounts, ...token }: Omit<Token, 'hash'>): TokenSettingsView => ({
  label: token.label,
  all_accounts: accounts === 'all',
  accounts: accounts === 'all' ? [] : accounts,
  permissions: token.permissions,
  created_on: token.created_on,
  ...(token.created_by !== undefined && { created_by: token.created_by }),
  ...(token.expires_on !== null && { expires_on: token.expires_on }),
  ...(token.revoked_on !== null && { revoked_on: token.revoked_on }),
});

function statusOf(token: Pick<Token, 'revoked_on' | 'expires_on'>): TokenView['status'] {
  if (token.revoked_on !== null) return 'revoked';
  return isValidAt(token, formatTimestamp(wallClock())) ? 'active' : 'expired';
}
