/** Returns the depth of a value: 0 for a scalar, 1 for a flat list or object. Does not descend below `most` levels. */
export function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most < 0) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, most - 1));
  return deepest + 1;
}
