/** What is fuzzed: inputs to begin with, the code under test, and what must hold. */
export interface Target {
  /** Valid inputs, and those that once failed: what is found is found from here. */
  readonly seeds: readonly Uint8Array[];
  /** Words that the code under test compares with: no guidance guesses them. */
  readonly dictionary: readonly string[];
  readonly maxBytes: number;
  /** `json`: values are exchanged, too, not bytes alone. */
  readonly format: 'bytes' | 'json';
  /**
   * Blocks of code that one input may take to run, far more than any needs. An endless loop, or work that grows with the
   * square of the input, takes more.
   */
  readonly maxWork: number;
  /** Throws where something that must hold does not. */
  run(input: Uint8Array): void | Promise<void>;
  close?(): Promise<void>;
}

/** Something that must hold does not. */
class Violation extends Error {
  override readonly name = 'Violation';
}

/** Throws a Violation that says what must hold, and what was found instead. */
export function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (!holds) throw new Violation(found === undefined ? what : `${what}; found ${shown(found)}`);
}

/** Enough to know it by. */
const MAX_SHOWN_LENGTH = 400;

function shown(found: unknown): string {
  const text = typeof found === 'string' ? found : (JSON.stringify(found) ?? String(found));
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
