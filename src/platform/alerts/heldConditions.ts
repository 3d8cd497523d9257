import type { Condition } from './alert.ts';

export interface HeldConditionsOptions {
  /** A condition is told when it has held for so long, and over when it has not held for so long: what flaps is one alert. */
  readonly holdMs: number;
}

/** Who is told. */
export interface Told {
  openKeys(prefix: string): readonly string[];
  begin(condition: Condition): void;
  end(key: string): void;
}

/** Makes beginnings and ends of what is looked at again and again. It decides and does no I/O. */
export class HeldConditions {
  readonly #holdMs: number;
  readonly #told: Told;
  /** Since when what holds and is not told holds, */
  readonly #since = new Map<string, number>();
  /** and since when what is told does not. */
  readonly #clearSince = new Map<string, number>();

  constructor({ holdMs }: HeldConditionsOptions, told: Told) {
    this.#holdMs = holdMs;
    this.#told = told;
  }

  /** All conditions that hold now, of those whose keys begin so. */
  look(prefix: string, conditions: readonly Condition[], nowMs: number): void {
    const holding = new Map(conditions.map((condition) => [condition.key, condition]));
    const open = this.#told.openKeys(prefix);
    forget(this.#since, prefix, (key) => holding.has(key));
    forget(this.#clearSince, prefix, (key) => !holding.has(key));
    for (const condition of conditions)
      if (!open.includes(condition.key) && this.#isHeld(this.#since, condition.key, nowMs))
        this.#told.begin(condition);
    for (const key of open)
      if (!holding.has(key) && this.#isHeld(this.#clearSince, key, nowMs)) this.#told.end(key);
  }

  #isHeld(since: Map<string, number>, key: string, nowMs: number): boolean {
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
