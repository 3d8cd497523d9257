/** Metrics of the server as a whole. Labels are fixed words, ids of operations and statuses. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Tally, tallied } from '../platform/metrics/index.ts';
import type { RulesStorage } from '../rules/index.ts';
import { VERSION } from './version.ts';

/** Which Floodgate this is, as Prometheus' own programs tell it. */
export function showBuild(registry: Registry): void {
  const gauge = new Gauge({
    name: 'floodgate_build_info',
    help: 'Always 1; its labels are the versions of Floodgate and of Node.js.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  gauge.set({ version: VERSION, node: process.versions.node }, 1);
}

export interface ShownServer {
  readonly isReady: () => boolean;
  readonly takesWrites: () => boolean;
  /** Bytes of every store on disk. */
  readonly storeBytes: () => Readonly<Record<string, number>>;
}

/** Whether it serves, and how much it keeps. */
export function showServer(registry: Registry, { isReady, takesWrites, storeBytes }: ShownServer): void {
  const registers = [registry];
  new Gauge({
    name: 'floodgate_ready',
    help: '1 while /readyz says that it is ready.',
    registers,
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'floodgate_store_writable',
    help: '1 while the stores are where they were opened and take writes.',
    registers,
    collect() {
      this.set(takesWrites() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'floodgate_store_bytes',
    help: 'Bytes on disk, by store.',
    labelNames: ['store'],
    registers,
    collect() {
      for (const [store, bytes] of Object.entries(storeBytes())) this.set({ store }, bytes);
    },
  });
}

export function countDroppedLogLines(registry: Registry, dropped: () => number = () => 0): void {
  new Counter({
    name: 'floodgate_log_lines_dropped_total',
    help: 'Log lines dropped because nobody read them',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}

/** Whether reads are the store's own answers, and how old they are where they are not. */
export function showRulesStore(registry: Registry, store: Pick<RulesStorage, 'staleSeconds'>): void {
  new Gauge({
    name: 'floodgate_rules_store_up',
    help: '1, and 0 while the rules database is away.',
    registers: [registry],
    collect() {
      this.set(store.staleSeconds === undefined ? 1 : 0);
    },
  });
  new Gauge({
    name: 'floodgate_rules_stale_seconds',
    help: 'How long ago what is known of rules was the newest; 0 while the rules database is there.',
    registers: [registry],
    collect() {
      this.set(store.staleSeconds ?? 0);
    },
  });
}

/** Counts the answers of the rules API by operation and status, of both of which there are few. */
export function countRulesRequests(registry: Registry): (operation: string, status: number) => void {
  const seriesOf = tallied({
    name: 'floodgate_rules_requests_total',
    help: 'Requests to the rules API, by operation (as the OpenAPI document names it) and status.',
    labelNames: ['operation', 'status'],
    registry,
  });
  const series = new Map<string, Tally>();
  return (operation, status) => {
    const key = `${operation} ${status}`;
    let tally = series.get(key);
    if (tally === undefined) {
      tally = seriesOf({ operation, status: String(status) });
      series.set(key, tally);
    }
    tally.inc();
  };
}
