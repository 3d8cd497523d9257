import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  FinalityError,
  type Indexer,
  type IndexerObserver,
  NodeError,
  WrongChainError,
} from '../traces/index.ts';

/** While catching up, progress is logged this often. */
const PROGRESS_INTERVAL_MS = 5_000;
/** A node that stays away is complained about this often, not at every attempt. */
const REPEATED_COMPLAINT_MS = 60_000;
/** An index further behind than this is catching up, and says so. */
const CATCHING_UP_BLOCKS = 20;

/** Tells logs and metrics what the ingest does. */
export class IngestReport implements IndexerObserver {
  readonly #logger: Logger;
  readonly #indexed: Counter;
  readonly #traces: Counter;
  readonly #head: Gauge;
  readonly #reorganisations: Counter;
  readonly #undone: Counter;
  readonly #failures: Counter<'reason'>;
  #lastProgressMs = 0;
  #lastComplaint = { text: '', atMs: 0 };

  constructor(logger: Logger, registry: Registry) {
    this.#logger = logger;
    const registers = [registry];
    this.#indexed = new Counter({
      name: 'floodgate_ingest_blocks_total',
      help: 'Blocks written to the index.',
      registers,
    });
    this.#traces = new Counter({
      name: 'floodgate_ingest_traces_total',
      help: 'Traces written to the index.',
      registers,
    });
    this.#head = new Gauge({
      name: 'floodgate_index_head_block',
      help: 'Highest block of the index.',
      registers,
    });
    this.#reorganisations = new Counter({
      name: 'floodgate_ingest_reorganisations_total',
      help: 'Times that blocks of the index were replaced by others.',
      registers,
    });
    this.#undone = new Counter({
      name: 'floodgate_ingest_undone_blocks_total',
      help: 'Blocks that were undone.',
      registers,
    });
    this.#failures = new Counter({
      name: 'floodgate_ingest_failures_total',
      help: 'Attempts to follow the node that failed, by reason.',
      labelNames: ['reason'],
      registers,
    });
  }

  /** Adds the gauges that are read from the indexer when they are asked for. */
  watch(indexer: Indexer, registry: Registry): void {
    new Gauge({
      name: 'floodgate_ingest_lag_blocks',
      help: 'Blocks between the head of the node and the head of the index.',
      registers: [registry],
      collect() {
        this.set(indexer.status().lagBlocks ?? 0);
      },
    });
  }

  indexed(blocks: Parameters<IndexerObserver['indexed']>[0], nodeHead: number): void {
    const last = blocks.at(-1)?.block;
    if (last === undefined) return;
    this.#indexed.inc(blocks.length);
    this.#traces.inc(blocks.reduce((sum, { block }) => sum + block.traceCount, 0));
    this.#head.set(last.number);
    const lagBlocks = nodeHead - last.number;
    this.#logger.debug({ block: last.number, blocks: blocks.length, lagBlocks }, 'indexed');
    if (lagBlocks < CATCHING_UP_BLOCKS || Date.now() - this.#lastProgressMs < PROGRESS_INTERVAL_MS) return;
    this.#lastProgressMs = Date.now();
    this.#logger.info({ block: last.number, nodeHead, lagBlocks }, 'indexing: catching up with the node');
  }

  reorganised(undoFrom: number, undoneBlocks: number): void {
    this.#reorganisations.inc();
    this.#undone.inc(undoneBlocks);
    this.#logger.info({ undoFrom, undoneBlocks }, 'the chain was reorganised: blocks are replaced');
  }

  failed(error: unknown, retryMs: number): void {
    this.#failures.inc({ reason: reasonOf(error) });
    const text = error instanceof Error ? error.message : String(error);
    const repeated =
      text === this.#lastComplaint.text && Date.now() - this.#lastComplaint.atMs < REPEATED_COMPLAINT_MS;
    if (repeated) return;
    this.#lastComplaint = { text, atMs: Date.now() };
    const known =
      error instanceof NodeError || error instanceof FinalityError || error instanceof WrongChainError;
    this.#logger.warn(
      { reason: reasonOf(error), retryMs, ...(!known && { err: error }) },
      `indexing waits: ${text}. What is indexed is still answered`,
    );
  }

  recovered(): void {
    this.#lastComplaint = { text: '', atMs: 0 };
    this.#logger.info('indexing goes on');
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NodeError) return error.reason;
  if (error instanceof FinalityError) return 'finality';
  if (error instanceof WrongChainError) return 'wrong_chain';
  return 'store';
}
