import type { Scheduler } from '../../../platform/scheduler/index.ts';

/**
 * Sends the responses of one event loop tick together at the end of the tick. The process that receives them then
 * wakes up once instead of once per response. A wake-up costs as much as a small response.
 * While other work waits, sends each response at once.
 */
export class TickBatcher {
  readonly #scheduler: Pick<Scheduler, 'isBusy'>;
  #answers: (() => void)[] = [];

  constructor(scheduler: Pick<Scheduler, 'isBusy'>) {
    this.#scheduler = scheduler;
  }

  send(send: () => void): void {
    if (this.#scheduler.isBusy) return send();
    this.#answers.push(send);
    if (this.#answers.length === 1) setImmediate(this.#sendAll);
  }

  readonly #sendAll = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    for (const send of answers) send();
  };
}
