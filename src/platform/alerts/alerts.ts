import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Log } from '../logging/index.ts';
import { SerialQueue } from '../serialQueue/index.ts';
import { type Alert, alertOf, type Condition } from './alert.ts';
import { AlertFile } from './alertFile.ts';
import { AlertMetrics, type DropReason } from './alertMetrics.ts';
import { AlertQueue, type StoredAlerts } from './alertQueue.ts';
import { Delivery, subjectOf } from './delivery.ts';
import { type SendOptions, sendAlert } from './sendAlert.ts';
import { bodyOf, type Webhook } from './webhook.ts';

/** Alerts that wait for a receiver: with some 2 KB each, half a MB. */
const MAX_WAITING = 256;
/** Conditions that are told and last: nodes, attacks, certificates and tokens of a large installation. */
const MAX_OPEN = 1024;
/** After so long nobody wants to be told any more. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;
const FIRST_RETRY_MS = 1_000;
/** An alert waits for the disk so long. */
const SAVE_PATIENCE_MS = 2_000;

export interface AlertsOptions extends Pick<SendOptions, 'secret' | 'allowPrivate' | 'timeoutMs'> {
  readonly webhooks: readonly Webhook[];
  /** Where what waits is kept. */
  readonly folder: string;
  readonly maxWaiting?: number;
  readonly firstRetryMs?: number;
}

export interface AlertsDependencies {
  readonly log: Log;
  readonly metrics: Registry;
}

/**
 * Tells receivers what begins and what is over, each at least once: what waits is on disk before it is sent, and is sent again
 * with the same id where a kill left in doubt whether it arrived.
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

  /** Goes on with what an earlier run left in the folder. */
  static async open(options: AlertsOptions, dependencies: AlertsDependencies): Promise<Alerts> {
    const file = new AlertFile(options.folder);
    const stored = await file.load().catch(async (error: unknown): Promise<StoredAlerts> => {
      dependencies.log.error(
        { file: file.path, reason: String(error) },
        'the alerts that waited cannot be read: they are put aside',
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
              if (outcome !== 'failed') void this.#save();
            },
          },
        ),
    );
  }

  /** The keys that begin so of what was told, and is not over. */
  openKeys(prefix: string): string[] {
    return [...this.#queue.open.keys()].filter((key) => key.startsWith(prefix));
  }

  /** Tells that something began; nothing where that was told already. */
  begin(condition: Condition): void {
    const { open } = this.#queue;
    if (open.has(condition.key) || open.size >= MAX_OPEN) return;
    const incident = randomUUID();
    open.set(condition.key, { incident, condition });
    this.#tell(alertOf(newIds(incident), { ...condition, state: 'firing' }));
  }

  /** Tells that something is over; nothing where it was not told that it began. */
  end(key: string, outcome: Pick<Condition, 'text' | 'details'>): void {
    const incident = this.#queue.open.get(key);
    if (incident === undefined) return;
    this.#queue.open.delete(key);
    const ids = newIds(incident.incident);
    this.#tell(alertOf(ids, { ...incident.condition, ...outcome, state: 'resolved' }));
  }

  /** Stops sending, and keeps what waits. */
  async stop(): Promise<void> {
    await Promise.all(this.#deliveries.map((delivery) => delivery.stop()));
    await this.#save();
    await this.#saves.idle();
  }

  #tell(alert: Alert): void {
    this.#metrics.alerts.inc({ kind: alert.kind, state: alert.state });
    this.#log.info({ ...subjectOf(alert), state: alert.state }, 'an alert is sent');
    this.#dropped('expired', this.#queue.expire(Date.now() - MAX_AGE_MS));
    this.#dropped('queue_full', this.#queue.add(alert));
    void this.#saved().then(() => this.#wake());
  }

  #dropped(reason: DropReason, alerts: readonly Alert[]): void {
    for (const alert of alerts) {
      this.#metrics.dropped.inc({ reason });
      this.#log.error({ ...subjectOf(alert), reason }, 'an alert was dropped that no receiver took in time');
    }
  }

  #wake(): void {
    for (const delivery of this.#deliveries) delivery.wake();
  }

  /** A disk that hangs is itself told of. */
  #saved(): Promise<unknown> {
    const patience = new Promise((resolve) => setTimeout(resolve, SAVE_PATIENCE_MS).unref());
    return Promise.race([this.#save(), patience]);
  }

  /** Never rejects: what cannot be stored, as the disk is full, is told all the more. */
  async #save(): Promise<void> {
    // One that has not begun stores this, too.
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
            'alerts cannot be stored: a kill would lose those that wait',
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
