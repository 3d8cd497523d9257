/**
 * Traces of an address: a list that ends with pages of older traces, and new traces that the user has not shown yet.
 */
import { signal } from '@preact/signals';
import type { Failure, Outcome } from '../../../api/failure.ts';
import { type RpcCall, rpc, rpcBatch } from '../../../api/rpc.ts';
import { subscribe } from '../../../api/subscription.ts';
import type { Filter } from '../filter.ts';
import { keyOfTrace } from '../frames/describe.ts';
import type { AddressTracesPage, BlockHeader, PushedTrace, Trace } from '../types.ts';

const PAGE_TRACES = 50;
/** Maximum number of pages that one click reads until a page contains a trace. A rare filter leaves many empty. */
const MAX_EMPTY_PAGES = 10;
/** Maximum number of new traces that wait to be shown. If more arrive, the list is read again instead. */
const MAX_WAITING = 1_000;
/** Number of blocks that are compared after a reorganisation. The deepest one since the merge replaced seven. */
const CHECKED_BLOCKS = 8;

const hashOf = (answer: Outcome<BlockHeader | null> | undefined): string | undefined =>
  answer !== undefined && 'value' in answer ? answer.value?.hash : undefined;

export type Range = readonly [number, number];

export class AddressHistory {
  readonly traces = signal<readonly Trace[]>([]);
  /** New traces that the user has not shown yet, newest first. */
  readonly waiting = signal<readonly Trace[]>([]);
  /** Whether there are newer traces that are not in `waiting`, because they are too many, or could not be read. */
  readonly isBehind = signal(false);
  /** Keys of shown traces whose block was replaced later. */
  readonly replaced = signal<ReadonlySet<string>>(new Set());
  readonly missing = signal<readonly Range[]>([]);
  readonly range = signal<AddressTracesPage['range'] | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly isBusy = signal(true);
  /** Cursor of the next page. `null`: there are no more pages; undefined: no page was read yet. */
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

  /** Reads the first page, and subscribes to new traces if the order is newest first. */
  async begin(): Promise<void> {
    // The subscription starts before the first read. A trace that arrives during the read is then received twice, and
    // the second one is recognised by its key.
    const { order, ...live } = this.#filter;
    if (order === undefined)
      this.#unsubscribe = subscribe<PushedTrace>(this.#network, ['traces', live], {
        pushed: (trace) => this.#take(trace),
        state: (state) => (this.isLive.value = state === 'open'),
      });
    await this.more();
  }

  /** The JSON-RPC call that reads the first page, for the user to copy. */
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
    for (let page = 0; page < MAX_EMPTY_PAGES; page++) {
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

  /** Shows the new traces. If some of them are not in `waiting`, reads the list again. */
  async showWaiting(): Promise<void> {
    const isBehind = this.isBehind.value;
    this.traces.value = isBehind ? [] : [...this.waiting.value, ...this.traces.value];
    this.waiting.value = [];
    if (!isBehind) return;
    this.isBehind.value = false;
    this.missing.value = [];
    this.cursor.value = undefined;
    await this.more();
  }

  /**
   * Looks for traces that were missed while no subscription was open, and for shown traces whose block was replaced. The
   * gateway reports a replaced block only to subscribers to which it sent the block.
   */
  async check(): Promise<void> {
    if (this.cursor.value === undefined || this.#filter.order !== undefined) return;
    const [answer] = await Promise.all([
      rpc<AddressTracesPage>({ ...this.call, signal: this.#ended.signal }),
      this.#markReplaced(),
    ]);
    if (this.#ended.signal.aborted) return;
    if ('failure' in answer) {
      this.isBehind.value = true;
      return;
    }
    const { traces, cursor } = answer.value;
    const missed = traces.filter((trace) => !this.#knows(trace));
    this.isBehind.value = missed.length > 0 && missed.length === traces.length && cursor !== null;
    if (!this.isBehind.value)
      this.waiting.value = [...missed, ...this.waiting.value].sort((a, b) => b.blockNumber - a.blockNumber);
  }

  /** Asks the nodes for the newest blocks that are shown: they know of a reorganisation before the index does. */
  async #markReplaced(): Promise<void> {
    const shown = this.traces.value;
    const blocks = [...new Set(shown.map(({ blockNumber }) => blockNumber))].slice(0, CHECKED_BLOCKS);
    if (blocks.length === 0) return;
    const method = 'eth_getBlockByNumber';
    const calls = blocks.map((block) => ({ method, params: [`0x${block.toString(16)}`, false] }));
    const answers = await rpcBatch<BlockHeader | null>(this.#network, calls, this.#ended.signal);
    const hashes = new Map(blocks.map((block, i) => [block, hashOf(answers[i])]));
    const replaced = shown.filter(
      ({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) !== blockHash,
    );
    this.replaced.value = new Set([...this.replaced.value, ...replaced.map(keyOfTrace)]);
  }

  end(): void {
    this.#ended.abort();
    this.#unsubscribe?.();
  }

  #knows(trace: Trace): boolean {
    const key = keyOfTrace(trace);
    return [...this.waiting.value, ...this.traces.value].some((one) => keyOfTrace(one) === key);
  }

  #append({ traces, cursor, range, missing }: AddressTracesPage): void {
    const known = new Set([...this.traces.value, ...this.waiting.value].map(keyOfTrace));
    this.traces.value = [...this.traces.value, ...traces.filter((trace) => !known.has(keyOfTrace(trace)))];
    this.cursor.value = cursor;
    this.range.value = range;
    this.missing.value = mergeRanges([...this.missing.value, ...missing]);
  }

  #take(trace: PushedTrace): void {
    const key = keyOfTrace(trace);
    const isShown = this.traces.value.some((one) => keyOfTrace(one) === key);
    if (trace.removed) {
      this.waiting.value = this.waiting.value.filter((one) => keyOfTrace(one) !== key);
      if (isShown) this.replaced.value = new Set([...this.replaced.value, key]);
      return;
    }
    if (this.#knows(trace)) return;
    if (this.waiting.value.length < MAX_WAITING) this.waiting.value = [trace, ...this.waiting.value];
    else this.isBehind.value = true;
  }
}

/** Sorts ranges of blocks, and merges those that overlap or touch. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const all: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = all.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else all.push([first, last]);
  }
  return all;
}
