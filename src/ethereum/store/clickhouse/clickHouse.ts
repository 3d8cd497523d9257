import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { AnswerTooLargeError } from '../../traces/index.ts';
import type { ClickHouseAddress } from './address.ts';
import { reasonOf, TraceStoreUnavailable } from './failures.ts';
import type { Rows } from './native.ts';
import { BadRowBinary, RowReader } from './rowBinary.ts';

/** What a statement is given: each stands in it as {name:Type}, never as text. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[]>>;

const REQUEST_TIMEOUT_MS = 30_000;
/** The server gives up first. */
const MAX_EXECUTION_SECONDS = 20;
/** Changes of the tables and deletions rewrite what is there. */
const MAX_COMMAND_SECONDS = 600;
const MAX_CONNECTIONS = 16;
/** What stands in an answer besides traces: places, and counts by block. */
const ROOM_BYTES = 16 * 1024 * 1024;
/** At either end of an answer: what stands between is all of it. */
const MARK = 0x464c4f44;

/** TOO_MANY_ROWS_OR_BYTES. */
const TOO_LARGE = '396';
const UNKNOWN_SETTING = '115';

const READ_SETTINGS = {
  max_execution_time: MAX_EXECUTION_SECONDS,
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  // An error after the first bytes would stand inside of a 200.
  wait_end_of_query: 1,
  // Counts and places are of the same parts.
  enable_shared_storage_snapshot_in_query: 1,
  optimize_use_projections: 1,
  // Questions are small: what compiling them and a second thread take is more than they save.
  ...{ compile_expressions: 0, compile_aggregate_expressions: 0, compile_sort_description: 0 },
  max_threads: 1,
} as const;

/** A ClickHouse over HTTP. Whatever fails is a TraceStoreUnavailable, or an AnswerTooLargeError. */
export class ClickHouse {
  readonly #client: ClickHouseClient;
  readonly #isCluster: boolean;

  constructor({ url, username, password, database, cluster, ca }: ClickHouseAddress) {
    this.#isCluster = cluster !== undefined;
    this.#client = createClient({
      ...{ url, username, password, database },
      ...(ca && { tls: { ca_cert: ca } }),
      application: 'floodgate',
      request_timeout: REQUEST_TIMEOUT_MS,
      max_open_connections: MAX_CONNECTIONS,
      compression: { request: false, response: false },
      // Its lines would go to standard output; what fails is thrown.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /** The columns of the one row that a SELECT of `columns` gives; what stands behind them is `from`. */
  async row<T>(
    { columns, from, parameters }: { columns: string; from: string; parameters: Parameters },
    maxBytes: number,
    read: (row: RowReader) => T,
  ): Promise<T> {
    const query = `SELECT toUInt32(${MARK}), ${columns}, toUInt32(${MARK}) ${from} FORMAT RowBinary`;
    const limit = maxBytes + ROOM_BYTES;
    const settings = { ...READ_SETTINGS, max_result_bytes: String(limit), ...this.#sequential() };
    const bytes = await this.#exec({ query, parameters, settings }, { limit, maxBytes });
    try {
      const row = new RowReader(bytes);
      checkMark(row);
      const value = read(row);
      checkMark(row);
      row.end();
      return value;
    } catch (error) {
      if (!(error instanceof BadRowBinary)) throw error;
      throw new TraceStoreUnavailable(`ClickHouse: ${error.message}: ${exceptionIn(bytes)}`, {
        cause: error,
      });
    }
  }

  /** Adds rows. The same token again adds nothing, where the table remembers it. */
  async insert(
    table: string,
    columns: string,
    { rows, token }: { rows: Rows; token: string },
  ): Promise<void> {
    const settings = {
      max_execution_time: MAX_EXECUTION_SECONDS,
      wait_end_of_query: 1,
      async_insert: 0,
      insert_deduplication_token: token,
      ...(this.#isCluster && {
        ...{ insert_quorum: 'auto', insert_quorum_parallel: 0, distributed_foreground_insert: 1 },
      }),
    } as const;
    await this.#exec(
      { query: `INSERT INTO ${table} (${columns}) FORMAT Native`, parameters: {}, settings, rows },
      { limit: ROOM_BYTES, maxBytes: ROOM_BYTES },
    );
  }

  /** Carries out a statement that gives nothing, and waits until every replica has. */
  async command(query: string, parameters: Parameters = {}): Promise<void> {
    const settings = {
      max_execution_time: MAX_COMMAND_SECONDS,
      wait_end_of_query: 1,
      mutations_sync: '2',
    } as const;
    await this.#exec({ query, parameters, settings }, { limit: ROOM_BYTES, maxBytes: ROOM_BYTES });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  /** A replica that has not yet what a majority was told refuses to answer. */
  #sequential(): { readonly select_sequential_consistency?: '1' } {
    return this.#isCluster ? { select_sequential_consistency: '1' } : {};
  }

  async #exec(
    { query, parameters, settings, rows }: Statement,
    { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
  ): Promise<Buffer> {
    try {
      const { stream } = await this.#client.exec({
        query,
        query_params: parameters,
        clickhouse_settings: settings,
        ...(rows && { values: Readable.from(rows.pieces, { objectMode: false }) }),
      });
      return await bytesOf(stream, limit, maxBytes);
    } catch (error) {
      if (error instanceof AnswerTooLargeError) throw error;
      if (error instanceof ClickHouseError && error.code === TOO_LARGE)
        throw new AnswerTooLargeError(maxBytes);
      const code = error instanceof ClickHouseError ? ` (${error.code} ${error.type ?? ''})` : '';
      throw new TraceStoreUnavailable(`ClickHouse: ${reasonOf(error)}${code}`, { cause: error });
    }
  }
}

/** The release of ClickHouse has no setting of that name yet. */
export const isUnknownSetting = ({ cause }: TraceStoreUnavailable): boolean =>
  cause instanceof ClickHouseError && cause.code === UNKNOWN_SETTING;

interface Statement {
  readonly query: string;
  readonly parameters: Parameters;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly rows?: Rows;
}

async function bytesOf(stream: Readable, limit: number, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) {
      stream.destroy();
      throw new AnswerTooLargeError(maxBytes);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

function checkMark(row: RowReader): void {
  if (row.uint32() !== MARK) throw new BadRowBinary('the answer is none');
}

/** What ClickHouse says of an error at the end of an answer that began as a good one. */
function exceptionIn(bytes: Buffer): string {
  const text = bytes.subarray(-4_096).toString('latin1');
  const found = /Code: \d+\. DB::Exception: [\x20-\x7e]*/.exec(text);
  return found === null ? 'it does not say why' : reasonOf(found[0]);
}
