import type { Alert } from './alert.ts';

/** About 100 KB, which is written with the queue. */
const MAX_RECENT = 100;

/** An alert as the history shows it, with the names of the webhooks that confirmed it. */
export interface RecentAlert extends Omit<Alert, 'details'> {
  readonly delivered: readonly string[];
}

/** The newest alerts, including those that no webhook received. Does no I/O. */
export class RecentAlerts {
  #alerts: readonly RecentAlert[];

  constructor(stored: readonly RecentAlert[] = []) {
    this.#alerts = stored.slice(0, MAX_RECENT);
  }

  /** The newest alert is first. */
  get all(): readonly RecentAlert[] {
    return this.#alerts;
  }

  add({ details: _, ...alert }: Alert): void {
    this.#alerts = [{ ...alert, delivered: [] }, ...this.#alerts].slice(0, MAX_RECENT);
  }

  delivered(webhook: string, { id }: Pick<Alert, 'id'>): void {
    this.#alerts = this.#alerts.map((alert) =>
      alert.id === id && !alert.delivered.includes(webhook)
        ? { ...alert, delivered: [...alert.delivered, webhook] }
        : alert,
    );
  }
}
