import type { Alert, Condition } from './alert.ts';
import type { RecentAlert } from './recentAlerts.ts';

/** An alert in the queue, with the keys of the webhooks that have not received it. */
interface Waiting {
  readonly alert: Alert;
  readonly webhooks: Set<string>;
}

export interface Incident {
  readonly incident: string;
  readonly condition: Condition;
}

/** The alerts that are stored for the next start. Contains no URL and no secret. */
export interface StoredAlerts {
  readonly open: readonly Incident[];
  readonly waiting: readonly { readonly alert: Alert; readonly webhooks: readonly string[] }[];
  readonly recent?: readonly RecentAlert[];
}

export interface AlertQueueOptions {
  /** Keys of the configured webhooks. Alerts for other webhooks are dropped. */
  readonly webhooks: readonly string[];
  readonly maxWaiting: number;
}

/** Alerts that are not yet delivered, in order, and the conditions that are still firing. Does no I/O. */
export class AlertQueue {
  /** The conditions that are still firing, by key. */
  readonly open: Map<string, Incident>;
  readonly #webhooks: readonly string[];
  readonly #maxWaiting: number;
  #waiting: readonly Waiting[];

  constructor({ webhooks, maxWaiting }: AlertQueueOptions, { open, waiting }: StoredAlerts) {
    this.#webhooks = webhooks;
    this.#maxWaiting = maxWaiting;
    this.open = new Map(open.map((incident) => [incident.condition.key, incident]));
    this.#waiting = waiting
      .map(({ alert, webhooks: keys }) => ({
        alert,
        webhooks: new Set(keys.filter((key) => webhooks.includes(key))),
      }))
      .filter(isWanted);
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Adds an alert for all webhooks. Returns the oldest alerts, which were dropped because the queue was full. */
  add(alert: Alert): readonly Alert[] {
    const all = [...this.#waiting, { alert, webhooks: new Set(this.#webhooks) }];
    this.#waiting = all.slice(-this.#maxWaiting);
    return all.slice(0, -this.#maxWaiting).map((waiting) => waiting.alert);
  }

  waitingFor(webhook: string): number {
    return this.#waiting.filter(({ webhooks }) => webhooks.has(webhook)).length;
  }

  nextFor(webhook: string): Alert | undefined {
    return this.#waiting.find(({ webhooks }) => webhooks.has(webhook))?.alert;
  }

  done(webhook: string, { id }: Alert): void {
    for (const { alert, webhooks } of this.#waiting) if (alert.id === id) webhooks.delete(webhook);
    this.#waiting = this.#waiting.filter(isWanted);
  }

  expire(beforeMs: number): readonly Alert[] {
    const isOld = ({ alert }: Waiting): boolean => Date.parse(alert.at) < beforeMs;
    const old = this.#waiting.filter(isOld);
    if (old.length > 0) this.#waiting = this.#waiting.filter((waiting) => !isOld(waiting));
    return old.map(({ alert }) => alert);
  }

  stored(): StoredAlerts {
    return {
      open: [...this.open.values()],
      waiting: this.#waiting.map(({ alert, webhooks }) => ({ alert, webhooks: [...webhooks] })),
    };
  }
}

const isWanted = ({ webhooks }: Waiting): boolean => webhooks.size > 0;
