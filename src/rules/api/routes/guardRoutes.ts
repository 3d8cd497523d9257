import type { GuardHandlers } from '../handlers/guardHandlers.ts';
import type { Route } from './route.ts';

const EXTENSION = 'An extension of Floodgate: Cloudflare’s API has no such operation.';

export function guardRoutes(family: 'network' | 'magic', guard: GuardHandlers): Route[] {
  const { status, attacks, attack, fleet, assessments, forget } = guard;
  const base = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection`;
  const suffix = family === 'network' ? '' : 'Magic';
  return [
    {
      method: 'GET',
      path: `${base}/status`,
      operationId: `readGuardStatus${suffix}`,
      summary: 'Read the current status of the DNS guard',
      permission: 'dns_protection:read',
      answer: 'GuardStatusAnswer',
      errors: ['notFound'],
      handle: status,
    },
    ...trafficRoutes(base, suffix, guard),
    {
      method: 'GET',
      path: `${base}/attacks`,
      operationId: `listAttacks${suffix}`,
      summary: 'List the attacks of the last 90 days, newest first',
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
      summary: 'Read one attack, with the most frequent limited names, query types and networks',
      permission: 'dns_protection:read',
      answer: 'AttackAnswer',
      errors: ['notFound'],
      handle: attack,
    },
    {
      method: 'GET',
      path: `${base}/fleet`,
      operationId: `listFleet${suffix}`,
      summary: 'List the guards of an account, with their location, rule in force and last report',
      permission: 'dns_protection:read',
      answer: 'FleetAnswer',
      errors: ['notFound'],
      handle: fleet,
    },
    {
      method: 'GET',
      path: `${base}/zone_assessments`,
      operationId: `listZoneAssessments${suffix}`,
      summary: 'List the zones with the most queries, and whether a rule can be enabled for them',
      description: `From the guard in this server. ${EXTENSION}`,
      permission: 'dns_protection:read',
      parameters: ['page', 'per_page', 'zone'],
      answer: 'ZoneAssessmentListAnswer',
      errors: ['notFound', 'invalid'],
      handle: assessments,
    },
    {
      method: 'POST',
      path: `${base}/zones/{zone_id}/forget`,
      operationId: `forgetZone${suffix}`,
      summary: 'Discard what guards learned about the zone of a policy',
      description: `All guards of the account do so within two seconds. ${EXTENSION}`,
      permission: 'dns_protection:write',
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: forget,
    },
  ];
}

function trafficRoutes(
  base: string,
  suffix: string,
  { rates, minuteRates, samples, whatIf }: GuardHandlers,
): Route[] {
  return [
    {
      method: 'GET',
      path: `${base}/rates`,
      operationId: `readGuardRates${suffix}`,
      summary: 'Read the queries per second of the last ten minutes, oldest first',
      permission: 'dns_protection:read',
      answer: 'GuardRatesAnswer',
      errors: ['notFound'],
      handle: rates,
    },
    {
      method: 'GET',
      path: `${base}/rates/minutes`,
      operationId: `readGuardMinuteRates${suffix}`,
      summary: 'Read the mean queries per second of each minute of the last seven days, oldest first',
      permission: 'dns_protection:read',
      parameters: ['since', 'until'],
      answer: 'GuardMinuteRatesAnswer',
      errors: ['notFound', 'invalid'],
      handle: minuteRates,
    },
    {
      method: 'GET',
      path: `${base}/samples`,
      operationId: `readSampledQueries${suffix}`,
      summary: 'Read some of the queries that were limited, or would have been, in one second',
      permission: 'dns_protection:read',
      parameters: ['samples at'],
      answer: 'SampledQueriesAnswer',
      errors: ['notFound', 'invalid'],
      handle: samples,
    },
    {
      method: 'GET',
      path: `${base}/what-if`,
      operationId: `readWhatIf${suffix}`,
      summary: 'Simulate other sensitivities on the queries of the last minute',
      permission: 'dns_protection:read',
      answer: 'WhatIfAnswer',
      errors: ['notFound'],
      handle: whatIf,
    },
  ];
}
