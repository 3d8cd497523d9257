/** What `Access-Control-Allow-Origin` a request of an origin gets; undefined for none. */
export type OriginRule = (origin: string | undefined) => string | undefined;

export function originRule(allowed: readonly string[]): OriginRule {
  if (allowed.includes('*')) return () => '*';
  return (origin) => (origin !== undefined && allowed.includes(origin) ? origin : undefined);
}
