import type { Log } from '../../platform/logging/index.ts';
import { effectiveRule, type GuardLocation, type Rule } from '../../rules/index.ts';
import type { QueryStats } from '../analytics/index.ts';
import type { AttackDetector } from '../detector/index.ts';
import { watchSource } from './watchSource.ts';

/** Source of the rules of an account. `onChange` returns a function that removes the listener. */
export interface RuleSource {
  list(): Promise<readonly Rule[]> | readonly Rule[];
  onChange(listener: () => void): () => void;
}

export interface WatchRulesDependencies {
  readonly rules: RuleSource;
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly log: Log;
  readonly onRule: () => void;
}

/** Reads the rules now and after each change, and passes the rule in force to the attack detector. */
export function watchRules(
  place: GuardLocation,
  { rules, detector, stats, log, onRule }: WatchRulesDependencies,
): Promise<() => void> {
  return watchSource({
    read: () => rules.list(),
    onChange: (listener) => rules.onChange(listener),
    apply(list) {
      // Verdicts are collected before the rule changes, because they belong to the previous rule.
      const nowMs = Date.now();
      stats.collect(nowMs);
      detector.setRule(effectiveRule(list, place), nowMs);
      onRule();
    },
    failed: (error) => log.warn({ error }, 'cannot read the rules; keeping the last one'),
  });
}
