import { type AccessEntry, exampleRule, type Rule, type RuleFormat } from '../index.ts';
import type { SchemaName } from './envelopeSchemas.ts';
import type { errorTable } from './errors.ts';

export const EXAMPLE_RULE_ID = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
export const EXAMPLE_ENTRY_ID = '8f14e45f-ceea-467f-9a0c-1d2e3f4a5b6c';
const EXAMPLE_MOMENT = '2026-11-20T22:10:38.762503+00:00';

/** An example of each body and answer, for the readers of the OpenAPI document. */
export function examplesOf(format: RuleFormat): Readonly<Partial<Record<SchemaName, unknown>>> {
  const moments = { created_on: EXAMPLE_MOMENT, modified_on: EXAMPLE_MOMENT };
  const stored = { id: EXAMPLE_RULE_ID, ...exampleRule, ...moments } satisfies Rule;
  const rule = format.inOrder(format.complete(stored));
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
    AuditAnswer: answer([change], { result_info: { per_page: 100, count: 1 } }),
    AnalyticsAnswer: answer({}),
    TokenAnswer: answer({ id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', status: 'active' }),
    DoneAnswer: answer(),
  };
}

/** An example of an answer that is an error. */
export function exampleError({ code, message }: (typeof errorTable)[keyof typeof errorTable]): object {
  return { result: null, success: false, errors: [{ code, message }], messages: [] };
}
