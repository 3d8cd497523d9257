import type { Log } from '../../platform/logging/index.ts';
import { effectiveRule, type Place, type Rule } from '../../rules/index.ts';
import type { QueryStats } from '../analytics/index.ts';
import type { AttackDetector } from '../detector/index.ts';
import { followNewest } from './followNewest.ts';

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

/** Gives the detector the rule in force, as `followNewest` does. */
export function followRules(
  place: Place,
  { rules, detector, stats, log, onRule }: FollowRulesDependencies,
): Promise<() => void> {
  return followNewest({
    read: () => rules.list(),
    onChange: (listener) => rules.onChange(listener),
    apply(list) {
      // What was decided until now was decided under the old rule.
      const nowMs = Date.now();
      stats.note(nowMs);
      detector.setRule(effectiveRule(list, place), nowMs);
      onRule();
    },
    failed: (error) => log.warn({ error }, 'the rules cannot be read: the last rule stays in force'),
  });
}
