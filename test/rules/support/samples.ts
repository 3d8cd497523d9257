/** The collection's path for an account, as the published documentation spells it. */
export function rulesPath(account: string, family: 'network' | 'magic' = 'network'): string {
  return `/accounts/${account}/${family}/advanced_dns_protection/configs/dns_protection/rules`;
}

/** The body of the published example of a create. */
export const newRule = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
  profile_sensitivity: 'low',
} as const;
