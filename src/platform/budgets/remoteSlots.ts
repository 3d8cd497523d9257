import type { BudgetClient, BudgetLimits } from './budget.ts';
import { Slots } from './slots.ts';

/** Requests a slot from the process that owns the slots. `end` must be called once, even before `isFree` resolves. */
type RequestSlot = (client: BudgetClient) => {
  readonly isFree: Promise<unknown>;
  readonly end: () => void;
};

/**
 * Slots that several processes share. A task of this process first takes a slot of this process, so that the owner has
 * few requests to queue. `isFreeFor` only considers the tasks of this process.
 */
export class RemoteSlots extends Slots {
  readonly #request: RequestSlot;

  constructor(limits: BudgetLimits, request: RequestSlot) {
    super(limits);
    this.#request = request;
  }

  override take(client: BudgetClient, start: (end: () => void) => void): () => void {
    let isEnded = false;
    let endRemote = (): void => undefined;
    const endLocal = super.take(client, () => {
      const requested = this.#request(client);
      endRemote = requested.end;
      requested.isFree.then(
        () => {
          if (!isEnded) start(end);
        },
        () => undefined, // the owner has ended
      );
    });
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      endRemote();
      endLocal();
    };
    return end;
  }
}
