import type { FillProgress } from '../../server/index.ts';

/** Milliseconds between two updates of the bar on a terminal. Other outputs get a line every `LINE_INTERVAL_MS`. */
const DRAW_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5_000;
const MAX_BAR_COLUMNS = 24;
/** Minimum width of the bar. If there is less room, no bar is drawn. */
const MIN_BAR_COLUMNS = 6;
/** Width of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/** Shows indexing progress: a bar on a terminal, plain lines elsewhere. */
export class ProgressBar implements FillProgress {
  readonly #stream: NodeJS.WriteStream;
  readonly #startMs = Date.now();
  #missing = 0;
  #blocks = 0;
  #traces = 0;
  #unavailable = 0;
  #underWay = 0;
  #lastMs = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  started(fromBlock: number, toBlock: number, missing: number): void {
    this.#missing += missing;
    this.#stream.write(
      `indexing blocks ${fromBlock} to ${toBlock}: ${missing} of ${toBlock - fromBlock + 1} are missing\n`,
    );
  }

  written(blocks: Parameters<FillProgress['written']>[0], underWay: number): void {
    this.#blocks += blocks.length;
    this.#traces += blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
    this.#unavailable += blocks.filter(({ block }) => block.unavailable !== undefined).length;
    this.#underWay = underWay;
    const intervalMs = this.#stream.isTTY ? DRAW_INTERVAL_MS : LINE_INTERVAL_MS;
    if (Date.now() - this.#lastMs < intervalMs) return;
    this.#lastMs = Date.now();
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${this.#drawn()}` : `${this.#line()}\n`);
  }

  trouble(message: string): void {
    this.#stream.write(`${this.#stream.isTTY ? '\r\x1b[K' : ''}${message}\n`);
  }

  end(): void {
    if (this.#stream.isTTY && this.#blocks > 0) this.#stream.write(`\r\x1b[K${this.#drawn()}\n`);
  }

  summary(): string {
    const seconds = (Date.now() - this.#startMs) / 1000;
    const done = `Indexed ${this.#blocks} blocks with ${this.#traces} traces in ${seconds.toFixed(1)} s.`;
    if (this.#unavailable === 0) return done;
    return `${done} No node can trace ${this.#unavailable} of them: they were recorded as unavailable.`;
  }

  /** Cuts the line to the terminal's width, because a wrapped line could not be redrawn. */
  #drawn(): string {
    const columns = (this.#stream.columns || USUAL_COLUMNS) - 1;
    const line = this.#line();
    const barColumns = Math.min(MAX_BAR_COLUMNS, columns - line.length - '[] '.length);
    if (barColumns < MIN_BAR_COLUMNS) return line.slice(0, columns);
    const done = Math.min(barColumns, Math.round((this.#blocks / Math.max(1, this.#missing)) * barColumns));
    return `[${'#'.repeat(done)}${'.'.repeat(barColumns - done)}] ${line}`;
  }

  #line(): string {
    const blocksPerSecond = this.#blocks / Math.max(0.001, (Date.now() - this.#startMs) / 1000);
    const leftSeconds = Math.ceil((this.#missing - this.#blocks) / Math.max(0.001, blocksPerSecond));
    return (
      `${this.#blocks} of ${this.#missing} blocks, ${this.#traces} traces, ${blocksPerSecond.toFixed(1)} blocks/s, ` +
      `${this.#underWay} in parallel, ${duration(leftSeconds)} left`
    );
  }
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
