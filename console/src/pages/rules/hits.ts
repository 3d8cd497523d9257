import { readAnalytics, readFleet } from '../../api/account.ts';
import type { Failure, Outcome } from '../../api/failure.ts';
import type { Counts, Rule } from '../../api/types.ts';
import { account } from '../../session.ts';
import { useLoaded } from '../../ui/useLoaded.ts';

const REFRESH_MS = 60_000;
/** Maximum number of rules whose queries are read, with one request each. */
const MAX_RULES = 20;

/** Counts of the last hour, by the id of the rule. */
export type Hits = ReadonlyMap<string, Counts>;

/** Without a guard or a rule, the server answers with 404. After another failure, it is not known what is in force. */
const isUnknown = (answer: Outcome<unknown>): answer is { readonly failure: Failure } =>
  'failure' in answer && answer.failure.status !== 404;

async function readHits(rules: readonly Rule[]): Promise<Outcome<Hits>> {
  const fleet = await readFleet();
  if (isUnknown(fleet)) return fleet;
  const guards = 'value' in fleet ? fleet.value.result : [];
  // A guard may still report a rule that was just deleted.
  const inForce = new Set(guards.map(({ rule }) => rule?.id));
  const ids = rules.flatMap(({ id }) => (inForce.has(id) ? id : [])).slice(0, MAX_RULES);
  const answers = await Promise.all(ids.map((id) => readAnalytics(id)));
  const unknown = answers.find(isUnknown);
  if (unknown !== undefined) return unknown;
  const found = answers.flatMap((answer, i) =>
    'value' in answer ? [[ids[i] ?? '', answer.value.result.totals] as const] : [],
  );
  return { value: new Map(found) };
}

const NO_RULES: readonly Rule[] = [];

export const useHits = (rules = NO_RULES): Hits | undefined =>
  useLoaded(() => readHits(rules), [account.value, rules], { everyMs: REFRESH_MS }).loaded.value.value;
