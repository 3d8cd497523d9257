import type { Logger } from 'pino';
import { FinalityError, type IndexerObserver, NoSpaceError } from '../../ethereum/ingest/index.ts';
import { NodeError } from '../../ethereum/nodes/index.ts';
import { IndexConflictError, WrongChainError } from '../../ethereum/traces/index.ts';
import type { IngestMetrics } from './ingestMetrics.ts';

/** Interval between progress messages while the index catches up. */
const PROGRESS_INTERVAL_MS = 5_000;
/** Minimum interval between equal warnings, so that an unreachable node is not logged on every attempt. */
const REPEATED_WARNING_MS = 60_000;
/** Lag in blocks from which the index counts as catching up and logs its progress. */
const CATCHING_UP_BLOCKS = 20;

/** Reports the progress and failures of ingest to log and metrics. */
export class IngestReport implements IndexerObserver {
  readonly #logger: Logger;
  readonly #metrics: IngestMetrics;
  readonly #network: string;
  #lastProgressMs = 0;
  #lastFillMs = 0;
  #lastComplaint = { text: '', atMs: 0 };

  constructor(logger: Logger, metrics: IngestMetrics, network: string) {
    this.#logger = logger.child({ network });
    this.#metrics = metrics;
    this.#network = network;
  }

  indexed(blocks: Parameters<IndexerObserver['indexed']>[0], nodeHead: number): void {
    const last = blocks.at(-1)?.block;
    if (last === undefined) return;
    const network = this.#network;
    const traces = blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
    this.#metrics.countWritten(network, blocks.length, traces);
    this.#metrics.head.set({ network }, last.number);
    const lagBlocks = nodeHead - last.number;
    this.#logger.debug({ block: last.number, blocks: blocks.length, lagBlocks }, 'indexed');
    if (lagBlocks < CATCHING_UP_BLOCKS || Date.now() - this.#lastProgressMs < PROGRESS_INTERVAL_MS) return;
    this.#lastProgressMs = Date.now();
    this.#logger.info({ block: last.number, nodeHead, lagBlocks }, 'indexing: catching up with the node');
  }

  reorganised(undoFrom: number, undoneBlocks: number): void {
    this.#metrics.reorganisations.inc({ network: this.#network });
    this.#metrics.undone.inc({ network: this.#network }, undoneBlocks);
    this.#logger.info({ undoFrom, undoneBlocks }, 'chain reorganised: replacing blocks');
  }

  failed(error: unknown, retryMs: number): void {
    this.#metrics.failures.inc({ network: this.#network, reason: reasonOf(error) });
    // The monitor of the free space logs this condition.
    if (error instanceof NoSpaceError) return;
    const text = error instanceof Error ? error.message : String(error);
    const repeated =
      text === this.#lastComplaint.text && Date.now() - this.#lastComplaint.atMs < REPEATED_WARNING_MS;
    if (repeated) return;
    this.#lastComplaint = { text, atMs: Date.now() };
    const reason = reasonOf(error);
    this.#logger.warn(
      { reason, retryMs, ...(reason === 'store' && { err: error }) },
      `indexing waits: ${text}; indexed blocks are still served`,
    );
  }

  filled(blocks: Parameters<IndexerObserver['filled']>[0], toBlock: number): void {
    const last = blocks.at(-1)?.block.number;
    if (last === undefined) return;
    const traces = blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
    this.#metrics.countWritten(this.#network, blocks.length, traces);
    if (Date.now() - this.#lastFillMs < PROGRESS_INTERVAL_MS) return;
    this.#lastFillMs = Date.now();
    this.#logger.info(
      { block: last, toBlock, blocksLeft: toBlock - last },
      'indexing: filling in older blocks',
    );
  }

  evicted(blocks: number): void {
    this.#metrics.evicted.inc({ network: this.#network }, blocks);
  }

  unavailable({ number, hash, unavailable }: Parameters<IndexerObserver['unavailable']>[0]): void {
    this.#logger.warn(
      { block: number, hash, reason: unavailable },
      'no node can trace a block: recorded as unavailable, indexing continues',
    );
  }

  available({ number, hash }: Parameters<IndexerObserver['available']>[0]): void {
    this.#logger.info({ block: number, hash }, 'indexed a block that was unavailable');
  }

  repaired({ unavailable, removed, records, failures }: Parameters<IndexerObserver['repaired']>[0]): void {
    const blocks = (numbers: readonly number[]) =>
      numbers.length > 0 && { count: numbers.length, first: numbers[0], last: numbers.at(-1) };
    if (failures.length > 0)
      this.#logger.error({ reasons: failures }, 'damage in the index cannot be repaired');
    else
      this.#logger.warn(
        { unavailable: blocks(unavailable), removed: blocks(removed), records },
        'index repaired',
      );
  }

  gapClosed(fromBlock: number): void {
    this.#logger.info({ fromBlock }, 'all blocks from index.from are indexed');
  }

  recovered(): void {
    this.#lastComplaint = { text: '', atMs: 0 };
    this.#logger.info('indexing resumed');
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NodeError) return error.reason;
  if (error instanceof NoSpaceError) return 'no_space';
  if (error instanceof FinalityError) return 'finality';
  if (error instanceof WrongChainError) return 'wrong_chain';
  // The node's blocks contradict the blocks it returned before.
  if (error instanceof IndexConflictError) return 'nonsense';
  return 'store';
}
