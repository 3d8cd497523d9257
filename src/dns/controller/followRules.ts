import { effectiveRule, type Place } from '../../rules/index.ts';
import type { QueryStats } from '../analytics/index.ts';
import type { GuardLog } from '../dataplane/embedded/index.ts';
import type { AttackDetector } from '../detector/index.ts';
import type { RuleSource } from './ruleSource.ts';

/**
 * Puts the rule in force before the detector, now and after each change. Rejects when the rules cannot be read the first
 * time; later the last rule stays in force and the next change, or a retry, brings the new one. Returns how to end it.
 */
export async function followRules(
  rules: RuleSource,
  place: Place,
  detector: AttackDetector,
  stats: QueryStats,
  log: GuardLog,
  onRule: () => void = () => {},
): Promise<() => void> {
  let wanted = 0;
  let retry: NodeJS.Timeout | undefined;
  const load = async (): Promise<void> => {
    const turn = ++wanted;
    const rule = effectiveRule(await rules.list(), place);
    // A list that was asked for earlier may come later: the last asked for is the newest.
    if (turn !== wanted) return;
    // What was decided until now was decided under the old rule.
    const nowMs = Date.now();
    stats.note(nowMs);
    detector.setRule(rule, nowMs);
    onRule();
  };
  const reload = (): void => {
    clearTimeout(retry);
    load().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'the rules cannot be read: the last rule stays in force');
      retry = setTimeout(reload, RETRY_MS);
      retry.unref();
    });
  };
  const stop = rules.onChange(reload);
  await load();
  return () => {
    clearTimeout(retry);
    stop();
  };
}

const RETRY_MS = 1000;
