import type { Rule } from '../../rules/index.ts';

/** Where the rules of the guard's account come from. `onChange` calls back after each change and returns how to end that. */
export interface RuleSource {
  list(): Promise<readonly Rule[]> | readonly Rule[];
  onChange(listener: () => void): () => void;
}
