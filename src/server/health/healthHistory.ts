import type { HealthSources } from './health.ts';
import { type Counts, sumByLabels } from './metricSums.ts';

const INTERVAL_MS = 60_000;
/** Number of minutes whose health is kept: one day, about 500 KB of memory. */
const MINUTES_KEPT = 24 * 60;

/** Metrics whose increase is recorded for each minute, with the labels by which they are summed. */
const COUNTED = {
  answers: ['floodgate_http_responses_total', ['status']],
  calls: ['floodgate_gateway_call_duration_seconds', ['network']],
  errors: ['floodgate_gateway_call_errors_total', ['network']],
  blocks: ['floodgate_ingest_blocks_total', ['network']],
  limited: ['floodgate_gateway_limited_total', []],
  outcomes: ['floodgate_dns_queries_total', ['outcome']],
  cpu: ['process_cpu_seconds_total', []],
} as const satisfies Record<string, readonly [metric: string, labels: readonly string[]]>;
type Counted = Readonly<Record<keyof typeof COUNTED, Counts>>;

/** Health of one minute, in the form of the schema `HealthMinute` of the rules API. */
export interface HealthMinute {
  readonly at: string;
  readonly ready: boolean;
}

type HistorySources = Omit<HealthSources, 'roles'>;

export interface HealthHistoryOptions {
  readonly intervalMs?: number;
  readonly minutesKept?: number;
}

/** Records the health of the server for each minute of the last day. */
export class HealthHistory {
  readonly #sources: HistorySources;
  readonly #minutesKept: number;
  readonly #timer: NodeJS.Timeout;
  readonly #minutes: HealthMinute[] = [];
  #before: Counted | undefined;

  constructor(
    { intervalMs = INTERVAL_MS, minutesKept = MINUTES_KEPT }: HealthHistoryOptions,
    sources: HistorySources,
  ) {
    this.#sources = sources;
    this.#minutesKept = minutesKept;
    // If a minute cannot be recorded it is skipped, and the next one covers both.
    const note = (): void => void this.#note().catch(() => undefined);
    this.#timer = setInterval(note, intervalMs).unref();
    note();
  }

  get minutes(): readonly HealthMinute[] {
    return this.#minutes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #note(): Promise<void> {
    const now = await countedOf(this.#sources);
    const before = this.#before;
    this.#before = now;
    // The first sample has no predecessor to compare with.
    if (before === undefined) return;
    const grown = (name: keyof Counted): Counts => difference(now[name], before[name]);
    const total = (name: keyof Counted): number => grown(name)[''] ?? 0;
    const { readiness, ethereum, dns } = this.#sources;
    const [calls, errors, blocks] = [grown('calls'), grown('errors'), grown('blocks')];
    const outcomes = grown('outcomes');
    const networks = [...(ethereum?.networks ?? [])].map(([network, { pool }]) => ({
      network,
      nodes_healthy: pool.nodes.filter(({ health }) => health === 'healthy').length,
      head_block: pool.knownHeads?.latest.number ?? null,
      calls: calls[network] ?? 0,
      errors: errors[network] ?? 0,
      indexed_blocks: blocks[network] ?? 0,
    }));
    const minute = {
      at: new Date().toISOString(),
      ready: readiness().ready,
      rss_bytes: process.memoryUsage.rss(),
      cpu_seconds: Math.round(total('cpu') * 1000) / 1000,
      answers: grown('answers'),
      limited: total('limited'),
      networks,
      ...(dns && {
        guard: {
          queries: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
          limited: (outcomes['dropped'] ?? 0) + (outcomes['truncated'] ?? 0),
          attacks: dns.attacks().length,
        },
      }),
    };
    this.#minutes.push(minute);
    if (this.#minutes.length > this.#minutesKept) this.#minutes.shift();
  }
}

async function countedOf({ metrics }: HistorySources): Promise<Counted> {
  const registry = await metrics();
  const entries = Object.entries(COUNTED).map(
    async ([name, [metric, labels]]) => [name, await sumByLabels(registry, metric, labels)] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as Counted; // has the keys of COUNTED
}

const difference = (now: Counts, before: Counts): Counts =>
  Object.fromEntries(
    Object.entries(now).flatMap(([key, count]) => {
      const grown = count - (before[key] ?? 0);
      return grown === 0 ? [] : [[key, grown]];
    }),
  );
