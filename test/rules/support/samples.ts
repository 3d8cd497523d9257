/** Returns the path of the rules of an account, as documented by Cloudflare. */
export function rulesPath(account: string, family: 'network' | 'magic' = 'network'): string {
  return `/accounts/${account}/${family}/advanced_dns_protection/configs/dns_protection/rules`;
}

/** The body of Cloudflare's documented example of a create. */
export const newRule = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
  profile_sensitivity: 'low',
} as const;

/** Returns the path of the zone policies of an account. */
export function zonesPath(account: string, family: 'network' | 'magic' = 'network'): string {
  return rulesPath(account, family).replace(/rules$/, 'zones');
}
