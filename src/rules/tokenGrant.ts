import type { Fault } from './invalidRule.ts';
import type { Permission, Token } from './token.ts';

/** What somebody may do, for which accounts, and until when. */
export type Grant = Pick<Token, 'accounts' | 'permissions' | 'expires_on'>;

/** Whether permissions allow what needs one of them: to write is to read as well, as with Cloudflare's tokens. */
export function grants(held: readonly Permission[], needed: Permission): boolean {
  return held.some(
    (permission) => permission === needed || permission === needed.replace(/:read$/, ':write'),
  );
}

/** By what one grant goes beyond another; empty where all of it is within. */
export function beyondGrant(own: Grant, wanted: Grant): Fault[] {
  const faults: Fault[] = [];
  const foreign = accountsBeyond(own, wanted);
  if (foreign !== undefined)
    faults.push({
      pointer: foreign === 'all' ? '/all_accounts' : '/accounts',
      message: `the token that asks is not for ${foreign === 'all' ? 'all accounts' : foreign.join(', ')}`,
    });
  const lacking = wanted.permissions.filter((permission) => !grants(own.permissions, permission));
  if (lacking.length > 0)
    faults.push({ pointer: '/permissions', message: `the token that asks lacks ${lacking.join(', ')}` });
  if (own.expires_on !== null && (wanted.expires_on === null || wanted.expires_on > own.expires_on))
    faults.push({
      pointer: '/expires_on',
      message: `the token that asks expires at ${own.expires_on}, and no token of its making may live longer`,
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
