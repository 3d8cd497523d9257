/** A fuzz target: seed inputs, the code under test, and its invariants. */
export interface Target {
  /** Valid inputs, and inputs that failed before; mutations start from these. */
  readonly seeds: readonly Uint8Array[];
  /** Words that the code under test compares with; coverage does not reveal them. */
  readonly dictionary: readonly string[];
  readonly maxBytes: number;
  /** For `json`, values are mutated in addition to bytes. */
  readonly format: 'bytes' | 'json';
  /**
   * Maximum number of executed blocks per input, far more than any valid input needs. An endless loop or quadratic
   * work exceeds it.
   */
  readonly maxWork: number;
  /** Throws if an invariant is violated. */
  run(input: Uint8Array): void | Promise<void>;
  close?(): Promise<void>;
}

/** A violated invariant. */
class Violation extends Error {
  override readonly name = 'Violation';
}

/** Throws a Violation that contains the invariant and the value found. */
export function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (!holds) throw new Violation(found === undefined ? what : `${what}; found ${shown(found)}`);
}

/** Enough characters to recognise the value. */
const MAX_SHOWN_LENGTH = 400;

function shown(found: unknown): string {
  const text = typeof found === 'string' ? found : (JSON.stringify(found) ?? String(found));
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
