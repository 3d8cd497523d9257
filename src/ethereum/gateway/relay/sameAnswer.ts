/** Members that some clients give and others do not: their absence is no contradiction. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...['totalDifficulty', 'size', 'author', 'sealFields', 'mixHash', 'withdrawals'],
  ...[
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
  ],
  ...['root', 'effectiveGasPrice', 'gasPrice', 'blobGasPrice', 'blobGasUsed', 'revertReason', 'removed'],
]);

/** Whether two nodes say the same: in whatever order and case, and with or without what only some clients tell. */
export function sameAnswer(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.toLowerCase() === other.toLowerCase();
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, i) => sameAnswer(entry, other[i]));
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => {
      const [a, b] = [one[name], other[name]];
      if ((a === undefined || b === undefined) && OPTIONAL.has(name)) return true;
      return sameAnswer(a ?? null, b ?? null);
    });
  }
  return one === other;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
