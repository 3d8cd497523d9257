import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { inBackground } from '../background/index.ts';
import type { Log } from '../logging/index.ts';
import { SerialQueue } from '../serialQueue/index.ts';
import { type Alert, alertOf, type Condition } from './alert.ts';
import { AlertFile } from './alertFile.ts';
import { AlertMetrics, type DropReason } from './alertMetrics.ts';
import { AlertQueue, type StoredAlerts } from './alertQueue.ts';
import { Delivery, subjectOf } from './delivery.ts';
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
    { webhooks, maxWaiting = MAX_WAITING, firstRetryMs = FIRST_RETRY_MS, ...sending }: AlertsOptions,
    { log, metrics }: AlertsDependencies,
    { file, stored }: { readonly file: AlertFile; readonly stored: StoredAlerts },
  ) {
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
            send: (to, alert, signal) => sendAlert(to, bodyOf(alert, to.form), { ...sending, signal }),
            outcome: ({ name }, outcome) => {
              this.#metrics.deliveries.inc({ webhook: name, outcome });
              if (outcome !== 'failed') inBackground('alerts', () => this.#save());
            },
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
        await this.#file.save(this.#queue.stored());
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

const newIds = (incident: string): Pick<Alert, 'id' | 'incident' | 'at'> => ({
  ...{ id: randomUUID(), incident },
  at: new Date().toISOString(),
});
