import { failureReporter } from '../background/index.ts';
import type { Log } from '../logging/index.ts';
import type { Alert } from './alert.ts';
import type { AlertQueue } from './alertQueue.ts';
import type { SendFailure } from './sendAlert.ts';
import type { Webhook } from './webhook.ts';

/** An alert is given up after this number of rejections (HTTP status 400 to 499), and the next one is sent. */
const MAX_REFUSALS = 5;
const MAX_RETRY_MS = 5 * 60_000;
/** Random part of the delay before a retry, as a share of the delay, so that many servers do not retry at once. */
const JITTER = 0.2;

export interface DeliveryOptions {
  readonly webhook: Webhook;
  /** Delay before a retry after the first failure. It doubles with each further failure. */
  readonly firstRetryMs: number;
}

export interface DeliveryDependencies {
  readonly queue: AlertQueue;
  readonly send: (webhook: Webhook, alert: Alert, signal: AbortSignal) => Promise<SendFailure | undefined>;
  readonly log: Log;
  /** Called after each delivery attempt. The queue of alerts has changed, unless the outcome is `failed`. */
  readonly outcome: (webhook: Webhook, attempt: Attempt) => void;
}

export interface Attempt {
  readonly alert: Alert;
  readonly outcome: 'delivered' | 'failed' | 'given_up';
  /** Reason of a failure, without path and query of the URL. */
  readonly reason?: string;
}

/** Delivers the alerts of one webhook one after the other, so that no resolved message precedes its firing message. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #dependencies: DeliveryDependencies;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #refusals = 0;

  constructor(options: DeliveryOptions, dependencies: DeliveryDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  wake(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#stop.signal.aborted) return;
    this.#running = this.#run()
      .catch(failureReporter('delivery of alerts'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Aborts the current attempt. Its alert is sent again at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { webhook } = this.#options;
    const { queue, send } = this.#dependencies;
    const { signal } = this.#stop;
    for (;;) {
      const alert = queue.nextFor(webhook.key);
      if (alert === undefined || signal.aborted) return;
      const failure = await send(webhook, alert, signal);
      if (signal.aborted && failure !== undefined) return;
      if (failure === undefined) this.#delivered(alert);
      else if (failure.isRefused && ++this.#refusals >= MAX_REFUSALS) this.#givenUp(alert, failure);
      else return this.#retryLater(alert, failure);
    }
  }

  #delivered(alert: Alert): void {
    const { queue, log, outcome } = this.#dependencies;
    const { webhook } = this.#options;
    if (this.#failures > 0)
      log.info({ webhook: webhook.name, failures: this.#failures }, 'alert delivery recovered');
    this.#failures = 0;
    this.#refusals = 0;
    queue.done(webhook.key, alert);
    outcome(webhook, { alert, outcome: 'delivered' });
  }

  #givenUp(alert: Alert, { reason }: SendFailure): void {
    const { queue, log, outcome } = this.#dependencies;
    const { webhook } = this.#options;
    log.error(
      { ...subjectOf(alert), webhook: webhook.name, reason },
      'alert rejected by the webhook: giving up',
    );
    this.#refusals = 0;
    queue.done(webhook.key, alert);
    outcome(webhook, { alert, outcome: 'given_up', reason });
  }

  #retryLater(alert: Alert, { reason }: SendFailure): void {
    const { log, outcome } = this.#dependencies;
    const { webhook, firstRetryMs } = this.#options;
    const retryMs = Math.round(
      Math.min(MAX_RETRY_MS, firstRetryMs * 2 ** this.#failures) * (1 + JITTER * (Math.random() - 0.5)),
    );
    // Only the first of several consecutive failures is logged.
    if (this.#failures++ === 0)
      log.warn(
        { ...subjectOf(alert), webhook: webhook.name, reason, retryMs },
        'alert delivery failed: retrying',
      );
    outcome(webhook, { alert, outcome: 'failed', reason });
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, retryMs).unref();
  }
}

export const subjectOf = ({ id, kind, subject }: Alert): object => ({ alert: id, kind, subject });
