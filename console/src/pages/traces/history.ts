/** The history of an address as a list that grows: older pages below, what is new above where it is asked for. */
import { signal } from '@preact/signals';
import { type RpcCall, type RpcFailure, rpc } from '../../api/rpc.ts';
import { subscribe } from '../../api/subscription.ts';
import { keyOfTrace } from './describe.ts';
import type { Filter } from './filter.ts';
import type { AddressTracesPage, PushedTrace, Trace } from './types.ts';

const PAGE_TRACES = 50;
/** A filter may find nothing in a page of work: so many are asked for in one go before somebody is asked to go on. */
const EMPTY_PAGES = 10;
/** What waits to be shown; beyond that the list is begun anew. */
const MAX_WAITING = 1_000;

export type Range = readonly [number, number];

export class AddressHistory {
  readonly traces = signal<readonly Trace[]>([]);
  /** New ones, the newest first, that are not in the list yet. */
  readonly waiting = signal<readonly Trace[]>([]);
  /** Keys of those whose block was replaced since they were shown. */
  readonly replaced = signal<ReadonlySet<string>>(new Set());
  readonly missing = signal<readonly Range[]>([]);
  readonly range = signal<AddressTracesPage['range'] | undefined>(undefined);
  readonly failure = signal<RpcFailure | undefined>(undefined);
  readonly isBusy = signal(true);
  /** `null`: this is all there is; undefined: nothing was asked yet. */
  readonly cursor = signal<string | null | undefined>(undefined);
  readonly isLive = signal(false);
  readonly #network: string;
  readonly #filter: Filter & { readonly address: string };
  readonly #ended = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(network: string, filter: Filter & { readonly address: string }) {
    this.#network = network;
    this.#filter = filter;
  }

  /** Begins with the newest, or the oldest; what is added to the chain from now on waits above. */
  async begin(): Promise<void> {
    // First the subscription: what comes between the two is in both, and is told apart by its key.
    const { order, ...live } = this.#filter;
    if (order === undefined)
      this.#unsubscribe = subscribe<PushedTrace>(this.#network, ['traces', live], {
        pushed: (trace) => this.#take(trace),
        state: (state) => {
          this.isLive.value = state === 'open';
        },
      });
    await this.more();
  }

  /** The call that the list begins with, to be copied. */
  get call(): RpcCall {
    return {
      network: this.#network,
      method: 'floodgate_addressTraces',
      params: [{ ...this.#filter, limit: PAGE_TRACES }],
    };
  }

  async more(): Promise<void> {
    this.isBusy.value = true;
    this.failure.value = undefined;
    for (let page = 0; page < EMPTY_PAGES; page++) {
      const cursor = this.cursor.value ?? undefined;
      const params = [{ ...this.#filter, limit: PAGE_TRACES, ...(cursor !== undefined && { cursor }) }];
      const answer = await rpc<AddressTracesPage>({ ...this.call, params, signal: this.#ended.signal });
      if (this.#ended.signal.aborted) return;
      if ('failure' in answer) {
        this.failure.value = answer.failure;
        break;
      }
      this.#append(answer.value);
      if (answer.value.traces.length > 0 || answer.value.cursor === null) break;
    }
    this.isBusy.value = false;
  }

  /** Puts what is new on top. */
  showWaiting(): void {
    this.traces.value = [...this.waiting.value, ...this.traces.value];
    this.waiting.value = [];
  }

  end(): void {
    this.#ended.abort();
    this.#unsubscribe?.();
  }

  #append({ traces, cursor, range, missing }: AddressTracesPage): void {
    const known = new Set([...this.traces.value, ...this.waiting.value].map(keyOfTrace));
    this.traces.value = [...this.traces.value, ...traces.filter((trace) => !known.has(keyOfTrace(trace)))];
    this.cursor.value = cursor;
    this.range.value = range;
    this.missing.value = joined([...this.missing.value, ...missing]);
  }

  #take(trace: PushedTrace): void {
    const key = keyOfTrace(trace);
    const isShown = this.traces.value.some((one) => keyOfTrace(one) === key);
    if (trace.removed) {
      this.waiting.value = this.waiting.value.filter((one) => keyOfTrace(one) !== key);
      if (isShown) this.replaced.value = new Set([...this.replaced.value, key]);
      return;
    }
    if (isShown || this.waiting.value.some((one) => keyOfTrace(one) === key)) return;
    this.waiting.value = [trace, ...this.waiting.value].slice(0, MAX_WAITING);
  }
}

/** Ranges of blocks in their order, those that touch as one. */
function joined(ranges: readonly Range[]): Range[] {
  const all: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = all.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else all.push([first, last]);
  }
  return all;
}
