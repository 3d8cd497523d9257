/** Metrics of the server. Labels are fixed words, operation ids and status codes, so their number is bounded. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type CounterSeries, gaugesOf, SeriesCounter } from '../../platform/metrics/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import { VERSION } from '../version.ts';

/** Registers the version as a build info gauge, following the convention of Prometheus. */
export function registerBuildInfo(registry: Registry): void {
  const gauge = new Gauge({
    name: 'floodgate_build_info',
    help: 'Always 1; its labels are the versions of Floodgate and of Node.js.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  gauge.set({ version: VERSION, node: process.versions.node }, 1);
}

export interface ServerState {
  readonly isReady: () => boolean;
  readonly takesWrites: () => boolean;
  readonly storeBytes: () => Readonly<Record<string, number>>;
}

/** Registers gauges for readiness, writable stores and store sizes. */
export function registerServerMetrics(
  registry: Registry,
  { isReady, takesWrites, storeBytes }: ServerState,
): void {
  const gauge = gaugesOf(registry);
  gauge('floodgate_ready', '1 while /readyz reports that the server is ready.', () => Number(isReady()));
  gauge('floodgate_store_writable', '1 while the store files are in place and writable.', () =>
    Number(takesWrites()),
  );
  new Gauge({
    name: 'floodgate_store_bytes',
    help: 'Bytes on disk, by store.',
    labelNames: ['store'],
    registers: [registry],
    collect() {
      for (const [store, bytes] of Object.entries(storeBytes())) this.set({ store }, bytes);
    },
  });
}

export function countDroppedLogLines(registry: Registry, dropped: () => number = () => 0): void {
  new Counter({
    name: 'floodgate_log_lines_dropped_total',
    help: 'Log lines dropped because the log output was not read.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}

/** Registers gauges for the availability of the rules database and the age of cached rules. */
export function registerRulesStoreMetrics(
  registry: Registry,
  store: Pick<RulesStorage, 'staleSeconds'>,
): void {
  const gauge = gaugesOf(registry);
  gauge('floodgate_rules_store_up', '1 while the rules database is reachable, otherwise 0.', () =>
    store.staleSeconds === undefined ? 1 : 0,
  );
  gauge(
    'floodgate_rules_stale_seconds',
    'Age of the cached rules in seconds; 0 while the rules database is reachable.',
    () => store.staleSeconds ?? 0,
  );
}

/** Returns a function that counts responses of the rules API by operation and status. */
export function countRulesRequests(registry: Registry): (operation: string, status: number) => void {
  const counter = new SeriesCounter({
    name: 'floodgate_rules_requests_total',
    help: 'Requests to the rules API, by operation (as the OpenAPI document names it) and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const known = new Map<string, CounterSeries>();
  return (operation, status) => {
    const key = `${operation} ${status}`;
    let series = known.get(key);
    if (series === undefined) {
      series = counter.series({ operation, status: String(status) });
      known.set(key, series);
    }
    series.inc();
  };
}
