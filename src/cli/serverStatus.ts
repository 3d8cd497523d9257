import { readMetrics } from './readMetrics.ts';

/** Status that a server reports without a token. */
export interface ServerStatus {
  readonly ready: boolean;
  /** Empty if the server's release does not report roles. */
  readonly roles: readonly string[];
  /** `/readyz` checks by name: `ok`, or the problem. */
  readonly checks: Readonly<Record<string, string>>;
  readonly startedAt: string | null;
  readonly networks: readonly NetworkStatus[];
  /** Null if the server runs no DNS guard. */
  readonly dns: DnsStatus | null;
}

export interface NetworkStatus {
  readonly network: string;
  readonly nodes: number;
  readonly nodesUp: number;
  readonly indexHead: number | null;
  readonly lagBlocks: number | null;
}

export interface DnsStatus {
  /** Null if dnsdist forwards the queries. */
  readonly serversUp: number | null;
  /** Whether the DNS servers answer enough queries in time. */
  readonly serversHealthy: boolean;
  readonly dnsdistNodes: number;
  readonly dnsdistInForce: number;
  readonly knownNames: number;
  /** Whether the guard has learned enough to drop queries. */
  readonly ready: boolean;
  readonly attackedZones: number;
  /** UDP queries since the start, by outcome. */
  readonly queries: Readonly<Record<string, number>>;
}

/** Combines the responses of `/readyz` and `/metrics`. If the metrics are empty, only the readiness is known. */
export function statusOf(
  readiness: Pick<ServerStatus, 'ready' | 'roles' | 'checks'>,
  metricsText: string,
): ServerStatus {
  const metrics = readMetrics(metricsText);
  const one = (name: string, labels: Readonly<Record<string, string>> = {}): number | null =>
    metrics.find((sample) => sample.name === name && isOf(sample.labels, labels))?.value ?? null;
  const values = (name: string, labels: Readonly<Record<string, string>> = {}): number[] =>
    metrics.filter((sample) => sample.name === name && isOf(sample.labels, labels)).map(({ value }) => value);
  const networks = new Set(
    metrics
      .filter(({ name }) => name === 'floodgate_upstream_up')
      .map(({ labels }) => labels['network'] ?? ''),
  );
  const started = one('process_start_time_seconds');
  const knownNames = one('floodgate_dns_profile_names');
  const inForce = values('floodgate_dns_dnsdist_in_force');
  return {
    ...readiness,
    startedAt: started === null ? null : new Date(started * 1000).toISOString(),
    networks: [...networks].map((network) => {
      const up = values('floodgate_upstream_up', { network });
      return {
        network,
        nodes: up.length,
        nodesUp: up.filter((value) => value === 1).length,
        indexHead: one('floodgate_index_head_block', { network }),
        lagBlocks: one('floodgate_ingest_lag_blocks', { network }),
      };
    }),
    dns:
      knownNames === null
        ? null
        : {
            serversUp: one('floodgate_dns_servers_up'),
            serversHealthy: one('floodgate_dns_upstreams_healthy') !== 0,
            dnsdistNodes: inForce.length,
            dnsdistInForce: inForce.filter((value) => value === 1).length,
            knownNames,
            ready: one('floodgate_dns_ready') === 1,
            attackedZones: one('floodgate_dns_attacked_zones') ?? 0,
            queries: byOutcome(metrics),
          },
  };
}

function byOutcome(metrics: ReturnType<typeof readMetrics>): Record<string, number> {
  const queries: Record<string, number> = {};
  for (const { name, labels, value } of metrics) {
    if (name !== 'floodgate_dns_queries_total') continue;
    const outcome = labels['outcome'] ?? '';
    queries[outcome] = (queries[outcome] ?? 0) + value;
  }
  return queries;
}

const isOf = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
