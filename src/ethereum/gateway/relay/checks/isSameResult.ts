/** JSON members of results that only some node clients return. One of two equal results may lack such a member. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'totalDifficulty',
  'size',
  'author',
  'sealFields',
  'mixHash',
  'withdrawals',
  'yParity',
  'v',
  'accessList',
  'chainId',
  'type',
  'blockTimestamp',
  'creates',
  'raw',
  'publicKey',
  'standardV',
  'root',
  'effectiveGasPrice',
  'gasPrice',
  'blobGasPrice',
  'blobGasUsed',
  'revertReason',
  'removed',
]);

/** Compares two results. Ignores member order, letter case, and optional members that only one result has. */
export function isSameResult(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.toLowerCase() === other.toLowerCase();
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, i) => isSameResult(entry, other[i]));
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => {
      const [a, b] = [one[name], other[name]];
      if ((a === undefined || b === undefined) && OPTIONAL.has(name)) return true;
      return isSameResult(a ?? null, b ?? null);
    });
  }
  return one === other;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
