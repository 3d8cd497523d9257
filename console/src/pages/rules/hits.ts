import { readAnalytics, readFleet } from '../../api/account.ts';
import type { Failure, Outcome } from '../../api/failure.ts';
import type { Counts, Rule } from '../../api/types.ts';
import { account } from '../../session.ts';
import { useLoaded } from '../../ui/useLoaded.ts';

const REFRESH_MS = 60_000;
/** Maximum number of rules whose queries are read, with one request each. */
const MAX_RULES = 20;

/** Counts of the last hour of each rule that is in force, by its id. Undefined if the counts were not read. */
export type Hits = ReadonlyMap<string, Counts | undefined>;

/** Without a guard or a rule, the server answers with 404. After another failure, the rules in force are unknown. */
const isUnknown = (answer: Outcome<unknown>): answer is { readonly failure: Failure } =>
  'failure' in answer && answer.failure.status !== 404;

async function readHits(rules: readonly Rule[]): Promise<Outcome<Hits>> {
  const fleet = await readFleet();
  if (isUnknown(fleet)) return fleet;
  const guards = 'value' in fleet ? fleet.value.result : [];
  // A guard may still report a rule that was just deleted.
  const inForce = new Set(guards.map(({ rule }) => rule?.id));
  const ids = rules.flatMap(({ id }) => (inForce.has(id) ? id : []));
  const answers = await Promise.all(ids.slice(0, MAX_RULES).map((id) => readAnalytics(id)));
  const unknown = answers.find(isUnknown);
  if (unknown !== undefined) return unknown;
  const counts = answers.map((answer) => ('value' in answer ? answer.value.result.totals : undefined));
  return { value: new Map(ids.map((id, i) => [id, counts[i]])) };
}

const NO_RULES: readonly Rule[] = [];

export const useHits = (rules = NO_RULES): Hits | undefined =>
  useLoaded(() => readHits(rules), [account.value, rules], { everyMs: REFRESH_MS }).value;
