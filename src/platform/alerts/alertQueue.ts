import type { Alert, Condition } from './alert.ts';

/** An alert and the webhooks, by their keys, that have not taken it yet. */
interface Waiting {
  readonly alert: Alert;
  readonly webhooks: Set<string>;
}

/** Something that was told, and is not over. */
export interface Incident {
  readonly incident: string;
  readonly condition: Condition;
}

/** All that is kept over a restart. It holds no URL and no secret. */
export interface StoredAlerts {
  readonly open: readonly Incident[];
  readonly waiting: readonly { readonly alert: Alert; readonly webhooks: readonly string[] }[];
}

export interface AlertQueueOptions {
  /** Keys of the webhooks. What waits for another one waits no more: it is not configured any longer. */
  readonly webhooks: readonly string[];
  readonly maxWaiting: number;
}

/** What is to be sent, in its order, and what has been told and lasts. It decides and does no I/O. */
export class AlertQueue {
  /** By their conditions' keys. */
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

  /** Adds an alert for every webhook. Gives the oldest ones, for which there is no room any more. */
  add(alert: Alert): readonly Alert[] {
    const all = [...this.#waiting, { alert, webhooks: new Set(this.#webhooks) }];
    this.#waiting = all.slice(-this.#maxWaiting);
    return all.slice(0, -this.#maxWaiting).map((waiting) => waiting.alert);
  }

  /** What a webhook is to be sent next. */
  nextFor(webhook: string): Alert | undefined {
    return this.#waiting.find(({ webhooks }) => webhooks.has(webhook))?.alert;
  }

  /** A webhook is not to be sent an alert any more. */
  done(webhook: string, { id }: Alert): void {
    for (const { alert, webhooks } of this.#waiting) if (alert.id === id) webhooks.delete(webhook);
    this.#waiting = this.#waiting.filter(isWanted);
  }

  /** Leaves out what was seen before then, and gives it: it is of no use any more. */
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
