import { exampleRule, type Rule, type RuleFormat } from '../../index.ts';
import type { errorTable } from '../http/errors.ts';
import type { SchemaName } from './envelopeSchemas.ts';
import examples from './examples.json' with { type: 'json' };

export const EXAMPLE_RULE_ID = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
const EXAMPLE_MOMENT = '2026-11-20T22:10:38.762503+00:00';

/** Returns an example of each request and response body for the OpenAPI document. Examples of rules have all fields. */
export function examplesOf(format: RuleFormat): Readonly<Partial<Record<SchemaName, unknown>>> {
  const moments = { created_on: EXAMPLE_MOMENT, modified_on: EXAMPLE_MOMENT };
  const stored = { id: EXAMPLE_RULE_ID, ...exampleRule, ...moments } satisfies Rule;
  const rule = format.orderMembers(format.withDefaults(stored));
  const change = {
    at: EXAMPLE_MOMENT,
    by: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    label: 'pipeline',
    from: '192.0.2.7',
    action: 'rule.create',
    account: '0123abcd',
    rule: EXAMPLE_RULE_ID,
    after: rule,
  };
  const rest = { success: true, errors: [], messages: [] };
  const listOf = (item: unknown) => ({
    result: [item],
    ...rest,
    result_info: { page: 1, per_page: 100, count: 1, total_count: 1, total_pages: 1 },
  });
  const { AttackSummary, ZoneAssessment, ...results } = examples.results;
  return {
    ...examples.bodies,
    ...Object.fromEntries(Object.entries(results).map(([name, result]) => [name, { result, ...rest }])),
    RuleCreation: format.newRuleOf(rule),
    RuleAnswer: { result: rule, ...rest },
    RuleListAnswer: listOf(rule),
    AccessListAnswer: listOf(results.AccessEntryAnswer),
    ZonePolicyListAnswer: listOf(results.ZonePolicyAnswer),
    ApiTokenListAnswer: listOf(results.ApiTokenAnswer),
    GatewayKeyListAnswer: listOf(results.GatewayKeyAnswer),
    AttackListAnswer: listOf(AttackSummary),
    ZoneAssessmentListAnswer: listOf(ZoneAssessment),
    AuditAnswer: { result: [change], ...rest, result_info: { per_page: 100, count: 1 } },
    DoneAnswer: rest,
  };
}

export function exampleError({ code, message }: (typeof errorTable)[keyof typeof errorTable]): object {
  return { result: null, success: false, errors: [{ code, message }], messages: [] };
}
