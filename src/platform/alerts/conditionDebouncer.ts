import type { Condition } from './alert.ts';

export interface DebouncerOptions {
  /** A condition fires after it was true for this time, and resolves after it was false for this time. */
  readonly holdMs: number;
}

export interface AlertSink {
  openKeys(prefix: string): readonly string[];
  begin(condition: Condition): void;
  end(key: string): void;
}

/** Turns repeated observations of conditions into firing and resolved alerts. Does no I/O. */
export class ConditionDebouncer {
  readonly #holdMs: number;
  readonly #sink: AlertSink;
  /** Time since which a condition is true that does not fire yet, by the key of the condition. */
  readonly #since = new Map<string, number>();
  /** Time since which a firing condition is no longer true, by the key of the condition. */
  readonly #clearSince = new Map<string, number>();

  constructor({ holdMs }: DebouncerOptions, reported: AlertSink) {
    this.#holdMs = holdMs;
    this.#sink = reported;
  }

  /** `conditions` must contain all conditions that are true now and whose keys start with `prefix`. */
  observe(prefix: string, conditions: readonly Condition[], nowMs: number): void {
    const holding = new Map(conditions.map((condition) => [condition.key, condition]));
    const open = this.#sink.openKeys(prefix);
    forget(this.#since, prefix, (key) => holding.has(key));
    forget(this.#clearSince, prefix, (key) => !holding.has(key));
    for (const condition of conditions)
      if (!open.includes(condition.key) && this.#hasLasted(this.#since, condition.key, nowMs))
        this.#sink.begin(condition);
    for (const key of open)
      if (!holding.has(key) && this.#hasLasted(this.#clearSince, key, nowMs)) this.#sink.end(key);
  }

  #hasLasted(since: Map<string, number>, key: string, nowMs: number): boolean {
    const sinceMs = since.get(key) ?? nowMs;
    since.set(key, sinceMs);
    if (nowMs - sinceMs < this.#holdMs) return false;
    since.delete(key);
    return true;
  }
}

function forget(since: Map<string, number>, prefix: string, isKept: (key: string) => boolean): void {
  for (const key of since.keys()) if (key.startsWith(prefix) && !isKept(key)) since.delete(key);
}
