import type { GuardHandlers } from './guardHandlers.ts';
import type { Route } from './route.ts';

/** What the guard beside the API tells of itself, below `…/configs/dns_protection`. */
export function guardRoutes(
  family: 'network' | 'magic',
  { status, rates, whatIf, attacks, attack, fleet }: GuardHandlers,
): Route[] {
  const base = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection`;
  const suffix = family === 'network' ? '' : 'Magic';
  return [
    {
      method: 'GET',
      path: `${base}/status`,
      operationId: `readGuardStatus${suffix}`,
      summary: 'How the DNS guard stands now, with a rule in force or without one',
      permission: 'dns_protection:read',
      answer: 'GuardStatusAnswer',
      errors: ['notFound'],
      handle: status,
    },
    {
      method: 'GET',
      path: `${base}/rates`,
      operationId: `readGuardRates${suffix}`,
      summary: 'Queries a second in each second of the last ten minutes, the oldest first',
      permission: 'dns_protection:read',
      answer: 'GuardRatesAnswer',
      errors: ['notFound'],
      handle: rates,
    },
    {
      method: 'GET',
      path: `${base}/what-if`,
      operationId: `readWhatIf${suffix}`,
      summary: 'What other sensitivities would have refused in the last minute',
      permission: 'dns_protection:read',
      answer: 'WhatIfAnswer',
      errors: ['notFound'],
      handle: whatIf,
    },
    {
      method: 'GET',
      path: `${base}/attacks`,
      operationId: `listAttacks${suffix}`,
      summary: 'List the attacks of the last 90 days, the one that began last first',
      permission: 'dns_protection:read',
      parameters: ['page', 'attacks per_page', 'attacks since', 'attacks until', 'region', 'datacenter'],
      answer: 'AttackListAnswer',
      errors: ['notFound', 'invalid'],
      handle: attacks,
    },
    {
      method: 'GET',
      path: `${base}/attacks/{attack_id}`,
      operationId: `getAttack${suffix}`,
      summary: 'Read one attack: what is known of it, with the most frequent of what was refused',
      permission: 'dns_protection:read',
      answer: 'AttackAnswer',
      errors: ['notFound'],
      handle: attack,
    },
    {
      method: 'GET',
      path: `${base}/fleet`,
      operationId: `listFleet${suffix}`,
      summary:
        'List the guards of an account: where each stands, which rule it enforces, when it was seen last',
      permission: 'dns_protection:read',
      answer: 'FleetAnswer',
      errors: ['notFound'],
      handle: fleet,
    },
  ];
}
