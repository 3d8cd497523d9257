import type { Log } from '../../platform/logging/index.ts';
import { effectiveRule, type Place, type Rule } from '../../rules/index.ts';
import type { QueryStats } from '../analytics/index.ts';
import type { AttackDetector } from '../detector/index.ts';

/** Where the rules of the guard's account come from. `onChange` calls back after each change and returns how to end that. */
export interface RuleSource {
  list(): Promise<readonly Rule[]> | readonly Rule[];
  onChange(listener: () => void): () => void;
}

export interface FollowRulesDependencies {
  readonly rules: RuleSource;
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly log: Log;
  /** Hears when the detector has another rule. */
  readonly onRule: () => void;
}

const RETRY_MS = 1000;

/**
 * Gives the detector the rule in force, now and after each change. Rejects when the rules cannot be read the first
 * time; later the last rule stays in force and the next change, or a retry, brings the new one. Returns how to end it.
 */
export async function followRules(
  place: Place,
  { rules, detector, stats, log, onRule }: FollowRulesDependencies,
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
  try {
    await load();
  } catch (error) {
    stop();
    throw error;
  }
  return () => {
    clearTimeout(retry);
    stop();
  };
}
