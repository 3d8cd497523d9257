/** Time range of graphs, which is part of the URL: `range=6h`, or `from` and `to`. Does not use the DOM. */

export const RANGES = [
  { key: '10m', title: 'last 10 minutes', seconds: 600 },
  { key: '1h', title: 'last hour', seconds: 3_600 },
  { key: '6h', title: 'last 6 hours', seconds: 21_600 },
  { key: '24h', title: 'last 24 hours', seconds: 86_400 },
  { key: '7d', title: 'last 7 days', seconds: 604_800 },
] as const;
/** Time for which the server stores one value per second. */
const SECONDS_KEPT = 600;
const MAX_SECONDS = 604_800;

export interface TimeRange {
  /** Key of `RANGES`; undefined if the user selected a period in a graph. */
  readonly key: string | undefined;
  readonly from: number;
  readonly to: number;
  /** Whether the range consists of seconds. Otherwise, it consists of minutes. */
  readonly hasSeconds: boolean;
}

/** Returns the range that a URL query selects, otherwise the last ten minutes. `now`: in seconds since 1970. */
export function timeRangeOf(query: URLSearchParams, now: number): TimeRange {
  const from = Math.floor(Date.parse(query.get('from') ?? '') / 1000);
  const to = Math.ceil(Date.parse(query.get('to') ?? '') / 1000);
  if (from < to && from < now && to - from <= MAX_SECONDS)
    return { key: undefined, from, to, hasSeconds: from >= now - SECONDS_KEPT };
  const { key, seconds } = RANGES.find((range) => range.key === query.get('range')) ?? RANGES[0];
  return { key, from: now - seconds, to: now, hasSeconds: seconds <= SECONDS_KEPT };
}

/** Returns a query with another time range, and all other parameters. */
export function withTimeRange(query: URLSearchParams, range: string | readonly [number, number]): string {
  const next = new URLSearchParams(query);
  for (const name of ['range', 'from', 'to']) next.delete(name);
  if (typeof range !== 'string')
    for (const [i, name] of ['from', 'to'].entries())
      next.set(name, new Date((range[i] ?? 0) * 1000).toISOString().replace('.000', ''));
  else if (range !== RANGES[0].key) next.set('range', range);
  return String(next);
}
