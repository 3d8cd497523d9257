const MAX_COMPARED_CHARACTERS = 100;

/** Returns the known name with the smallest Levenshtein distance to a mistyped one. */
export function mostSimilar(mistyped: string, known: readonly string[]): string {
  // Only the start of a long name is compared, because the cost grows with the length.
  const name = mistyped.slice(0, MAX_COMPARED_CHARACTERS);
  const distances = known.map((other) => [distance(name, other), other] as const);
  return distances.reduce((best, one) => (one[0] < best[0] ? one : best))[1];
}

/** Returns the Levenshtein distance between two strings. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
