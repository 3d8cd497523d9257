import type { Fault } from '../invalidRule.ts';
import type { Permission, Token } from './token.ts';

export type Grant = Pick<Token, 'accounts' | 'permissions' | 'expires_on'>;

/** Returns whether a token with the permissions `held` may use `needed`. A write permission includes reading. */
export function includesPermission(held: readonly Permission[], needed: Permission): boolean {
  return held.some(
    (permission) => permission === needed || permission === needed.replace(/:read$/, ':write'),
  );
}

/** Returns a fault for each part of the wanted grant that exceeds the grant of the requesting token. */
export function grantViolations(own: Grant, wanted: Grant): Fault[] {
  const faults: Fault[] = [];
  const foreign = accountsBeyond(own, wanted);
  if (foreign !== undefined)
    faults.push({
      pointer: foreign === 'all' ? '/all_accounts' : '/accounts',
      message: `the requesting token is not for ${foreign === 'all' ? 'all accounts' : foreign.join(', ')}`,
    });
  const lacking = wanted.permissions.filter((permission) => !includesPermission(own.permissions, permission));
  if (lacking.length > 0)
    faults.push({ pointer: '/permissions', message: `the requesting token lacks ${lacking.join(', ')}` });
  if (own.expires_on !== null && (wanted.expires_on === null || wanted.expires_on > own.expires_on))
    faults.push({
      pointer: '/expires_on',
      message: `the requesting token expires at ${own.expires_on}, and tokens that it creates cannot expire later`,
    });
  return faults;
}

function accountsBeyond(
  { accounts: own }: Pick<Grant, 'accounts'>,
  { accounts: wanted }: Pick<Grant, 'accounts'>,
): 'all' | readonly string[] | undefined {
  if (own === 'all') return undefined;
  if (wanted === 'all') return 'all';
  const foreign = wanted.filter((account) => !own.includes(account));
  return foreign.length > 0 ? foreign : undefined;
}
