import type { Hold } from '../../ethereum/gateway/index.ts';
import { NoNodeError } from '../../ethereum/jsonrpc/index.ts';

/** A call is held no longer: a disk that hangs while the index is changed must not hold clients for ever. */
const MAX_HELD_MS = 10_000;

/** Calls of a worker, held while all workers change to another state of the chain. */
export class HeldCalls implements Hold {
  #over: Promise<void> | undefined;
  #end: () => void = () => undefined;

  get isOn(): boolean {
    return this.#over !== undefined;
  }

  begin(): void {
    this.#over ??= new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#over = undefined;
    this.#end();
  }

  /** Rejects where it takes too long. */
  async over(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new NoNodeError('the index is being written; try again', 'noIndex')),
        MAX_HELD_MS,
      );
    });
    await Promise.race([this.#over, tooLong]).finally(() => clearTimeout(timer));
  }
}
