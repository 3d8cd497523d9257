import {
  type AccessEntry,
  checkNewZonePolicy,
  exampleRule,
  type Rule,
  type RuleFormat,
} from '../../index.ts';
import type { errorTable } from '../http/errors.ts';
import { exampleAlerts, exampleAlertTest } from './alertSchemas.ts';
import type { SchemaName } from './envelopeSchemas.ts';
import { exampleHealth, exampleHealthMinute } from './healthSchemas.ts';
import { exampleGateway, exampleGatewayKey, exampleGatewayKeyCreation, exampleNames } from './keySchemas.ts';
import { exampleApiToken, exampleApiTokenCreation } from './tokenSchemas.ts';

export const EXAMPLE_RULE_ID = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
export const EXAMPLE_ENTRY_ID = '8f14e45f-ceea-467f-9a0c-1d2e3f4a5b6c';
export const EXAMPLE_ZONE_ID = '0b9c9d5e-7d0a-4a55-8f0e-3f1f6f0f2a11';
export const EXAMPLE_ATTACK_ID = 'b3a1c5de-0f4b-4c1e-9a66-6f1d2c3b4a5e';
const EXAMPLE_MOMENT = '2026-11-20T22:10:38.762503+00:00';

/** Returns an example of each request and response body for the OpenAPI document. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table
export function examplesOf(format: RuleFormat): Readonly<Partial<Record<SchemaName, unknown>>> {
  const moments = { created_on: EXAMPLE_MOMENT, modified_on: EXAMPLE_MOMENT };
  const stored = { id: EXAMPLE_RULE_ID, ...exampleRule, ...moments } satisfies Rule;
  const rule = format.orderMembers(format.withDefaults(stored));
  const answer = (result?: unknown, more: object = {}) => ({
    ...(result !== undefined && { result }),
    ...{ success: true, errors: [], messages: [] },
    ...more,
  });
  const change = {
    ...{ at: EXAMPLE_MOMENT, by: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', label: 'pipeline', from: '192.0.2.7' },
    ...{ action: 'rule.create', account: '0123abcd', rule: EXAMPLE_RULE_ID, after: rule },
  };
  const newEntry = { prefix: '198.51.100.0/24', comment: 'floods us', enabled: true };
  const entry = { id: EXAMPLE_ENTRY_ID, ...newEntry, ...moments } satisfies AccessEntry;
  const newZonePolicy = { zone: 'bl.example.com', judge_by: 'rate', rate: 2000, comment: 'a blocklist' };
  const zonePolicy = { id: EXAMPLE_ZONE_ID, ...checkNewZonePolicy(newZonePolicy), ...moments };
  const attackRule = {
    ...{ id: EXAMPLE_RULE_ID, mode: 'enabled', profile_sensitivity: 'medium' },
    ...{ rate_sensitivity: 'medium', burst_sensitivity: 'medium' },
  };
  const attack = {
    ...{ id: EXAMPLE_ATTACK_ID, state: 'ended', zones: ['example.com'], zone_count: 1 },
    ...{ detected_by: 'unknown_rate', rule: attackRule },
    ...{ started_on: EXAMPLE_MOMENT, last_seen_on: EXAMPLE_MOMENT, ended_on: EXAMPLE_MOMENT },
    now: { queries: 0, unknown_names: 0, limited: 0, would_drop: 0 },
    peak: { queries: 20400, unknown_names: 20000, limited: 19900, would_drop: 0 },
    ...{ queries: 24400, unknown_names: 24100, limited: 23600, would_drop: 0, limited_share: 0.967 },
    known_names: { asked: 300, answered: 300, limited: 0, would_drop: 0 },
  };
  const heavy = (value: string) => ({ value, count: 23600, error: 0 });
  const attackWhole = {
    ...attack,
    response_codes: { NOERROR: 300, NXDOMAIN: 500 },
    top: {
      ...{ sampled: 512, weight: 23600 },
      names: [heavy('[0-9a-z]{9-16}.example.com')],
      types: [heavy('A')],
      networks: [heavy('198.51.100.0/24')],
    },
    sampled_names: [{ name: 'x8fj2k1mz0.example.com', type: 'A', network: '198.51.100.0/24' }],
    changes: [{ at: EXAMPLE_MOMENT, kind: 'rule', rule: attackRule }],
  };
  const status = {
    ...{ instance: '51c0f3a4-6c3e-4f0b-9d39-2f6f8c1f7a11', data_plane: 'embedded' },
    ...{ rule: attackRule, ready: true },
    ...{ profile_names: 50_000, profile_bytes: 1_200_000 },
    threshold: { rate_per_second: 100, burst: 500 },
    bucket: { rate_per_second: 100, burst: 500, tokens: 500 },
    since_start: {
      ...{ passed: 300, allowed: 0, paid: 500, would_drop: 0, dropped: 23600, truncated: 0 },
      reasons: { unknownName: { paid: 500, dropped: 23600 } },
      known_names: { asked: 300, answered: 300, limited: 0 },
    },
    ...{ attack: false, attacked_zones: [], attacks: [] },
  };
  const rates = {
    ...{
      until: EXAMPLE_MOMENT,
      passed: [300, 310],
      allowed: [0, 0],
      paid: [0, 100],
      limited: [0, 19_900],
      truncated: [0, 40],
      would_drop: [0, 0],
    },
    ...{ paying: [0, 20_000], paying_known: [0, 0], bucket_per_second: [100, 100], attack: [0, 1] },
    ...{ known_asked: [300, 310], known_answered: [300, 310], known_limited: [0, 0], mode: [3, 3] },
  };
  const minuteRates = {
    ...{ since: EXAMPLE_MOMENT, passed: [300, null], truncated: [40, null], dropped: [19_860, null] },
    ...{ would_drop: [0, null], known_asked: [300, null], known_answered: [300, null] },
    ...{ known_limited: [0, null], bucket_per_second: [100, null], attack: [1, null], mode: [3, null] },
  };
  const samples = {
    limited: 19_900,
    queries: [{ name: 'n81.example.com', type: 'A', network: '198.51.100.0/24' }],
  };
  const level = (sensitivity: string, factor: number) => ({
    ...{ profile_sensitivity: 'low', sensitivity },
    ...{ rate_per_second: 100 * factor, burst: 500 * factor },
    ...{ paying: 20_000, limited: 20_000 - 600 * factor, known_limited: 0, client_limited: 0 },
  });
  const whatIf = {
    ...{ rule: attackRule, seconds: 2, queries: 20_610, recorded: 1024 },
    levels: [level('low', 2), level('medium', 1), level('high', 0.5)],
  };
  const shares = { low: 0, medium: 0, high: 0.021 };
  const span = {
    queries: 360_000,
    limited_share: { low: shares, medium: shares, high: shares, very_high: shares },
  };
  const assessment = {
    ...{ zone: 'example.com', assessment: 'needs_rate', judged_by: 'names' },
    known_names: 120,
    ...{ profile_sensitivity: 'medium', rate_sensitivity: 'high' },
    proposed: { judge_by: 'rate', rate: 400, burst: 2000 },
    ...{ hour: span, day: span, week: span },
    ...{ names: ['n81.example.com'], networks: ['198.51.100.0/24'] },
  };
  const currentToken = {
    ...{ id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', label: 'dashboard', permissions: ['dns_protection:read'] },
    ...{ all_accounts: false, accounts: ['0123abcd'], guarded_account: '0123abcd' },
  };
  const page = { page: 1, per_page: 1000, count: 1, total_count: 1, total_pages: 1 };
  return {
    RuleCreation: format.newRuleOf(rule),
    RulePatch: { mode: 'enabled' },
    RuleAnswer: answer(rule),
    RuleListAnswer: answer([rule], { result_info: page }),
    AccessEntryCreation: newEntry,
    AccessEntryPatch: { enabled: false },
    AccessEntryAnswer: answer(entry),
    AccessListAnswer: answer([entry], { result_info: page }),
    ZonePolicyCreation: newZonePolicy,
    ZonePolicyPatch: { mode: 'monitoring', rate: null },
    ZonePolicyAnswer: answer(zonePolicy),
    ZonePolicyListAnswer: answer([zonePolicy], { result_info: page }),
    AuditAnswer: answer([change], { result_info: { per_page: 100, count: 1 } }),
    AnalyticsAnswer: answer({}),
    GuardStatusAnswer: answer(status),
    GuardRatesAnswer: answer(rates),
    GuardMinuteRatesAnswer: answer(minuteRates),
    SampledQueriesAnswer: answer(samples),
    WhatIfAnswer: answer(whatIf),
    ZoneAssessmentListAnswer: answer([assessment], { result_info: page }),
    CurrentTokenAnswer: answer(currentToken),
    AttackListAnswer: answer([attack], { result_info: { ...page, per_page: 25 } }),
    AttackAnswer: answer(attackWhole),
    AlertsAnswer: answer(exampleAlerts),
    AlertTestAnswer: answer([exampleAlertTest]),
    HealthAnswer: answer(exampleHealth),
    HealthHistoryAnswer: answer([exampleHealthMinute]),
    ApiTokenCreation: exampleApiTokenCreation,
    ApiTokenAnswer: answer(exampleApiToken),
    ApiTokenListAnswer: answer([exampleApiToken], { result_info: page }),
    CreatedApiTokenAnswer: answer({ ...exampleApiToken, value: `fg_${'0123456789'.repeat(4)}` }),
    GatewayAnswer: answer(exampleGateway),
    NamesAnswer: answer(exampleNames),
    GatewayKeyCreation: exampleGatewayKeyCreation,
    GatewayKeyAnswer: answer(exampleGatewayKey),
    GatewayKeyListAnswer: answer([exampleGatewayKey], { result_info: page }),
    CreatedGatewayKeyAnswer: answer({ ...exampleGatewayKey, value: `fgk_${'0123456789'.repeat(4)}` }),
    TokenAnswer: answer({ id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', status: 'active' }),
    DoneAnswer: answer(),
  };
}

export function exampleError({ code, message }: (typeof errorTable)[keyof typeof errorTable]): object {
  return { result: null, success: false, errors: [{ code, message }], messages: [] };
}
