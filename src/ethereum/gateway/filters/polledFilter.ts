import type { BlockRef } from '../../nodes/index.ts';
import type { Sink } from '../live/sink.ts';
import type { CallContext } from '../method.ts';

/** Where the texts of all filters are held until they are fetched. */
export interface HeldTexts {
  /** Returns false where there is no room. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export interface PolledFilterDependencies {
  /** Has what is new pushed from now on; what it returns ends it. */
  readonly subscribe: (sink: Sink) => () => void;
  /** The block up to which everything was pushed. */
  readonly tip: () => BlockRef | undefined;
  /** Everything behind a block up to the head. Rejects with RpcError where it cannot be told. */
  readonly read: (from: BlockRef, context: CallContext) => Promise<readonly string[]>;
  readonly held: HeldTexts;
}

/** What one filter has for its client: pushed to it as to a subscriber, and read from nodes where it was not. */
export class PolledFilter implements Sink {
  readonly #dependencies: PolledFilterDependencies;
  /** Its client has everything up to this block. */
  #position: BlockRef;
  /** Undefined where nothing is pushed: then what is behind the position is read. */
  #end: (() => void) | undefined;
  #texts: string[] = [];
  #bytes = 0;
  #reading: Promise<unknown> | undefined;

  constructor(position: BlockRef, dependencies: PolledFilterDependencies) {
    this.#position = position;
    this.#dependencies = dependencies;
  }

  /** From now on what is new is pushed to it. */
  begin(): void {
    this.#end ??= this.#dependencies.subscribe(this);
  }

  /** What is new since the last time, as JSON. */
  async changes(context: CallContext): Promise<readonly string[]> {
    while (this.#reading !== undefined) await this.#reading;
    if (this.#end !== undefined) return this.#take();
    this.begin();
    const reading = this.#dependencies.read(this.#position, context);
    this.#reading = reading.catch(() => undefined);
    try {
      const missed = await reading;
      return [...missed, ...this.#take()];
    } catch (error) {
      this.stop();
      throw error;
    } finally {
      this.#reading = undefined;
    }
  }

  push(text: string): void {
    if (this.#end === undefined) return;
    if (!this.#dependencies.held.take(text.length)) return this.stop();
    this.#bytes += text.length;
    this.#texts.push(text);
  }

  missed(): void {
    this.stop();
  }

  /** Nothing is pushed to it any more, and what was and is not fetched is forgotten: it is read again. */
  stop(): void {
    this.#end?.();
    this.#end = undefined;
    this.#forget();
  }

  #take(): readonly string[] {
    const texts = this.#texts;
    this.#forget();
    const tip = this.#end === undefined ? undefined : this.#dependencies.tip();
    if (tip !== undefined && tip.number >= this.#position.number) this.#position = tip;
    return texts;
  }

  #forget(): void {
    this.#dependencies.held.giveBack(this.#bytes);
    this.#texts = [];
    this.#bytes = 0;
  }
}
