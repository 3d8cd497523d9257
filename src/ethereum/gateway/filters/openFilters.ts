import { Quotas } from '../quotas.ts';

export interface OpenFiltersOptions {
  /** A filter that is not asked for so long ends. */
  readonly forgetMs: number;
  readonly maxPerClient: number;
  readonly max: number;
  /** Those that ended are remembered, the last so many of them: their ids would still be good. */
  readonly maxEnded: number;
}

interface Open<T> {
  readonly filter: T;
  readonly timer: NodeJS.Timeout;
  readonly giveBack: () => void;
}

/** The filters that are open here, and those that ended, by their names. */
export class OpenFilters<T extends { stop(): void }> {
  readonly #options: OpenFiltersOptions;
  readonly #open = new Map<string, Open<T>>();
  readonly #ended = new Set<string>();
  readonly #quotas: Quotas;

  constructor(options: OpenFiltersOptions) {
    const { maxPerClient, max } = options;
    this.#options = options;
    this.#quotas = new Quotas('filters', { perAddress: maxPerClient, perKey: maxPerClient, total: max });
  }

  hasEnded(name: string): boolean {
    return this.#ended.has(name);
  }

  /** It is asked for: its time begins anew. */
  get(name: string): T | undefined {
    const open = this.#open.get(name);
    open?.timer.refresh();
    return open?.filter;
  }

  /** Throws RpcError where there are too many. */
  add(name: string, client: string, make: () => T): T {
    const giveBack = this.#quotas.take({ address: client, keyId: undefined });
    const filter = make();
    const timer = setTimeout(() => this.end(name), this.#options.forgetMs).unref();
    this.#open.set(name, { filter, timer, giveBack });
    return filter;
  }

  end(name: string): void {
    const open = this.#open.get(name);
    if (open !== undefined) close(open);
    this.#open.delete(name);
    this.#ended.add(name);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= this.#options.maxEnded) return;
      this.#ended.delete(oldest);
    }
  }

  stop(): void {
    for (const open of this.#open.values()) close(open);
    this.#open.clear();
  }
}

function close({ filter, timer, giveBack }: Open<{ stop(): void }>): void {
  clearTimeout(timer);
  filter.stop();
  giveBack();
}
