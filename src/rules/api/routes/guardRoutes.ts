import type { GuardHandlers } from '../handlers/guardHandlers.ts';
import type { Route } from './route.ts';

const EXTENSION = 'An extension of Floodgate: Cloudflare’s API has no such operation.';

type Report = Pick<Route, 'summary' | 'description' | 'parameters' | 'answer' | 'handle'>;

export function guardRoutes(family: 'network' | 'magic', guard: GuardHandlers): Route[] {
  const base = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection`;
  const suffix = family === 'network' ? '' : 'Magic';
  /** Returns the route of a report. `invalid` is an error of those with parameters. */
  const report = (path: string, operation: string, rest: Report): Route => ({
    method: 'GET',
    path: `${base}${path}`,
    operationId: `${operation}${suffix}`,
    permission: 'dns_protection:read',
    errors: rest.parameters === undefined ? ['notFound'] : ['notFound', 'invalid'],
    ...rest,
  });
  return [
    report('/status', 'readGuardStatus', {
      summary: 'Read the current status of the DNS guard',
      answer: 'GuardStatusAnswer',
      handle: guard.status,
    }),
    report('/rates', 'readGuardRates', {
      summary: 'Read the queries per second of the last ten minutes, oldest first',
      answer: 'GuardRatesAnswer',
      handle: guard.rates,
    }),
    report('/rates/minutes', 'readGuardMinuteRates', {
      summary: 'Read the mean queries per second of each minute of the last seven days, oldest first',
      parameters: ['since', 'until'],
      answer: 'GuardMinuteRatesAnswer',
      handle: guard.minuteRates,
    }),
    report('/samples', 'readSampledQueries', {
      summary: 'Read some of the queries that were limited, or would have been, in one second',
      parameters: ['samples at'],
      answer: 'SampledQueriesAnswer',
      handle: guard.samples,
    }),
    report('/what-if', 'readWhatIf', {
      summary: 'Simulate other sensitivities on the queries of the last minute',
      answer: 'WhatIfAnswer',
      handle: guard.whatIf,
    }),
    report('/attacks', 'listAttacks', {
      summary: 'List the attacks of the last 90 days, newest first',
      parameters: ['page', 'attacks per_page', 'attacks since', 'attacks until', 'region', 'datacenter'],
      answer: 'AttackListAnswer',
      handle: guard.attacks,
    }),
    report('/attacks/{attack_id}', 'getAttack', {
      summary: 'Read one attack, with the most frequent limited names, query types and networks',
      answer: 'AttackAnswer',
      handle: guard.attack,
    }),
    report('/fleet', 'listFleet', {
      summary: 'List the guards of an account, with their location, rule in force and last report',
      answer: 'FleetAnswer',
      handle: guard.fleet,
    }),
    report('/zone_assessments', 'listZoneAssessments', {
      summary: 'List the zones with the most queries, and whether a rule can be enabled for them',
      description: `From the guard in this server. ${EXTENSION}`,
      parameters: ['page', 'per_page', 'zone'],
      answer: 'ZoneAssessmentListAnswer',
      handle: guard.assessments,
    }),
    {
      method: 'POST',
      path: `${base}/zones/{zone_id}/forget`,
      operationId: `forgetZone${suffix}`,
      summary: 'Discard what guards learned about the zone of a policy',
      description: `All guards of the account do so within two seconds. ${EXTENSION}`,
      permission: 'dns_protection:write',
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: guard.forget,
    },
  ];
}
