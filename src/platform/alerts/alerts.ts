import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { awaitedLater, inBackground } from '../background/index.ts';
import type { Log } from '../logging/index.ts';
import { SerialQueue } from '../serialQueue/index.ts';
import { type Alert, alertOf, type Condition } from './alert.ts';
import { AlertFile } from './alertFile.ts';
import { AlertMetrics, type DropReason } from './alertMetrics.ts';
import { AlertQueue, type StoredAlerts } from './alertQueue.ts';
import { type Attempt, Delivery, subjectOf } from './delivery.ts';
import { type RecentAlert, RecentAlerts } from './recentAlerts.ts';
import { type SendOptions, sendAlert } from './sendAlert.ts';
import { bodyOf, type Webhook } from './webhook.ts';

/** Maximum number of pending alerts: about 0.5 MB if each has 2 KB. */
const MAX_WAITING = 256;
/** Maximum number of firing alerts; enough for nodes, attacks, certificates and tokens of a large installation. */
const MAX_FIRING = 1024;
/** Pending alerts are dropped when they are older than this. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;
const FIRST_RETRY_MS = 1_000;
/** Maximum time that an alert waits to be stored before it is sent. */
const SAVE_PATIENCE_MS = 2_000;

export interface AlertsOptions extends Pick<SendOptions, 'secret' | 'allowPrivate' | 'timeoutMs'> {
  readonly webhooks: readonly Webhook[];
  readonly folder: string;
  readonly maxWaiting?: number;
  readonly firstRetryMs?: number;
}

export interface AlertsDependencies {
  readonly log: Log;
  readonly metrics: Registry;
}

export interface AlertsReport {
  readonly webhooks: readonly {
    readonly name: string;
    /** Host and port of the URL. The rest of the URL may be secret. */
    readonly host: string;
    readonly form: Webhook['form'];
    /** Number of alerts that wait for delivery. */
    readonly waiting: number;
    /** The last attempt since the start of this server. */
    readonly last_attempt?: { readonly at: string; readonly delivered: boolean; readonly reason?: string };
  }[];
  readonly is_signed: boolean;
  /** Newest first. */
  readonly history: readonly RecentAlert[];
}

export interface TestResult {
  readonly webhook: string;
  readonly delivered: boolean;
  readonly reason?: string;
  readonly duration_ms: number;
}

/**
 * Notifies webhooks when a condition starts and ends, at least once each. A pending alert is stored before it is sent;
 * if the process is killed during delivery, it is sent again with the same id.
 */
export class Alerts {
  readonly #queue: AlertQueue;
  readonly #file: AlertFile;
  readonly #log: Log;
  readonly #metrics: AlertMetrics;
  readonly #deliveries: readonly Delivery[];
  readonly #options: AlertsOptions;
  readonly #recent: RecentAlerts;
  readonly #attempts = new Map<string, Attempt & { readonly at: string }>();
  #testing: Promise<readonly TestResult[]> | undefined;
  readonly #saves = new SerialQueue();
  #isSaveWaiting = false;
  #isStoreFailing = false;

  /** Loads the alerts of the previous run and continues to deliver them. */
  static async open(options: AlertsOptions, dependencies: AlertsDependencies): Promise<Alerts> {
    const file = new AlertFile(options.folder);
    const stored = await file.load().catch(async (error: unknown): Promise<StoredAlerts> => {
      dependencies.log.error(
        { file: file.path, reason: String(error) },
        'stored alerts unreadable: file renamed',
      );
      await file.setAside().catch(() => undefined);
      return { open: [], waiting: [] };
    });
    const alerts = new Alerts(options, dependencies, { file, stored });
    alerts.#wake();
    return alerts;
  }

  private constructor(
    options: AlertsOptions,
    { log, metrics }: AlertsDependencies,
    { file, stored }: { readonly file: AlertFile; readonly stored: StoredAlerts },
  ) {
    const { webhooks, maxWaiting = MAX_WAITING, firstRetryMs = FIRST_RETRY_MS } = options;
    this.#options = options;
    this.#recent = new RecentAlerts(stored.recent);
    const queue = new AlertQueue({ webhooks: webhooks.map(({ key }) => key), maxWaiting }, stored);
    this.#queue = queue;
    this.#file = file;
    this.#log = log;
    this.#metrics = new AlertMetrics(metrics, { webhooks, waiting: () => queue.size });
    this.#deliveries = webhooks.map(
      (webhook) =>
        new Delivery(
          { webhook, firstRetryMs },
          {
            queue,
            log,
            send: (to, alert, signal) => sendAlert(to, bodyOf(alert, to.form), { ...options, signal }),
            outcome: ({ name }, attempt) => this.#attempted(name, attempt),
          },
        ),
    );
  }

  openKeys(prefix: string): string[] {
    return [...this.#queue.open.keys()].filter((key) => key.startsWith(prefix));
  }

  /** Sends a firing alert, unless the condition fires already. */
  begin(condition: Condition): void {
    const { open } = this.#queue;
    if (open.has(condition.key) || open.size >= MAX_FIRING) return;
    const incident = randomUUID();
    open.set(condition.key, { incident, condition });
    this.#enqueue(alertOf(newIds(incident), { ...condition, state: 'firing' }));
  }

  /** Sends a resolved alert, if the condition was firing. */
  end(key: string, outcome: Pick<Condition, 'text' | 'details'>): void {
    const incident = this.#queue.open.get(key);
    if (incident === undefined) return;
    this.#queue.open.delete(key);
    const ids = newIds(incident.incident);
    this.#enqueue(alertOf(ids, { ...incident.condition, ...outcome, state: 'resolved' }));
  }

  report(): AlertsReport {
    const { webhooks, secret } = this.#options;
    return {
      webhooks: webhooks.map(({ name, url, form, key }) => {
        const last = this.#attempts.get(name);
        return {
          name,
          host: url.host,
          form,
          waiting: this.#queue.waitingFor(key),
          ...(last && { last_attempt: attemptOf(last) }),
        };
      }),
      is_signed: secret !== undefined,
      history: this.#recent.all,
    };
  }

  /** Sends a test alert to each webhook once, without the queue. Concurrent calls share one test. */
  test(alert: Alert): Promise<readonly TestResult[]> {
    this.#testing ??= awaitedLater(
      this.#test(alert).finally(() => {
        this.#testing = undefined;
      }),
    );
    return this.#testing;
  }

  async #test(alert: Alert): Promise<readonly TestResult[]> {
    this.#recent.add(alert);
    const results = await Promise.all(
      this.#options.webhooks.map(async (webhook): Promise<TestResult> => {
        const startMs = performance.now();
        const failure = await sendAlert(webhook, bodyOf(alert, webhook.form), this.#options);
        this.#attempted(webhook.name, {
          alert,
          outcome: failure === undefined ? 'delivered' : 'failed',
          ...(failure && { reason: failure.reason }),
        });
        return {
          webhook: webhook.name,
          delivered: failure === undefined,
          ...(failure && { reason: failure.reason }),
          duration_ms: Math.round(performance.now() - startMs),
        };
      }),
    );
    await this.#save();
    return results;
  }

  #attempted(webhook: string, attempt: Attempt): void {
    const { outcome, alert } = attempt;
    this.#metrics.deliveries.inc({ webhook, outcome });
    this.#attempts.set(webhook, { ...attempt, at: new Date().toISOString() });
    if (outcome === 'delivered') this.#recent.delivered(webhook, alert);
    if (outcome !== 'failed') inBackground('alerts', () => this.#save());
  }

  /** Stops sending and stores the pending alerts. */
  async stop(): Promise<void> {
    await Promise.all(this.#deliveries.map((delivery) => delivery.stop()));
    await this.#save();
    await this.#saves.idle();
  }

  #enqueue(alert: Alert): void {
    this.#metrics.alerts.inc({ kind: alert.kind, state: alert.state });
    this.#log.info({ ...subjectOf(alert), state: alert.state }, 'sending alert');
    this.#dropped('expired', this.#queue.expire(Date.now() - MAX_AGE_MS));
    this.#dropped('queue_full', this.#queue.add(alert));
    this.#recent.add(alert);
    inBackground('alerts', () => this.#saved().then(() => this.#wake()));
  }

  #dropped(reason: DropReason, alerts: readonly Alert[]): void {
    for (const alert of alerts) {
      this.#metrics.dropped.inc({ reason });
      this.#log.error({ ...subjectOf(alert), reason }, 'alert dropped before delivery');
    }
  }

  #wake(): void {
    for (const delivery of this.#deliveries) delivery.wake();
  }

  /** Stores the alerts, but waits at most SAVE_PATIENCE_MS, so that an alert about a hanging disk is still sent. */
  #saved(): Promise<unknown> {
    const patience = new Promise((resolve) => setTimeout(resolve, SAVE_PATIENCE_MS).unref());
    return Promise.race([this.#save(), patience]);
  }

  /** Stores the alerts. Never rejects, so that alerts are still sent if the disk is full. */
  async #save(): Promise<void> {
    // If another save waits to start, it will include this change.
    if (this.#isSaveWaiting) return this.#saves.idle();
    this.#isSaveWaiting = true;
    await this.#saves.run(async () => {
      this.#isSaveWaiting = false;
      try {
        await this.#file.save({ ...this.#queue.stored(), recent: this.#recent.all });
        this.#isStoreFailing = false;
      } catch (error) {
        if (!this.#isStoreFailing)
          this.#log.error(
            { reason: String(error) },
            'cannot store alerts: a crash would lose pending alerts',
          );
        this.#isStoreFailing = true;
      }
    });
  }
}

const attemptOf = ({ at, outcome, reason }: Attempt & { readonly at: string }) => ({
  at,
  delivered: outcome === 'delivered',
  ...(reason !== undefined && { reason }),
});

const newIds = (incident: string): Pick<Alert, 'id' | 'incident' | 'at'> => ({
  id: randomUUID(),
  incident,
  at: new Date().toISOString(),
});
