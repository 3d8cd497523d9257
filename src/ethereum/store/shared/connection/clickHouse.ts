import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ExecParams,
} from '@clickhouse/client';
import { AnswerTooLargeError } from '../../../traces/index.ts';
import type { ClickHouseAddress } from './address.ts';
import { reasonOf, TraceStoreUnavailable, WrongTables } from './failures.ts';
import { RowReader } from './rowReader.ts';

/** Query parameters. Statements refer to them as {name:Type} and never contain their values. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number | bigint)[]>>;

/** Timeouts on ClickHouse: of a server's statements, and of statements that create tables or read all rows. */
const MAX_EXECUTION_SECONDS = 20;
const MAX_COMMAND_SECONDS = 300;
/** Time by which a request may take longer than its statement, so that the server aborts the statement first. */
const REQUEST_OVERHEAD_MS = 10_000;
const MAX_CONNECTIONS = 16;
/** Size limit for the parts of a result that are not traces: positions and row counts. */
const RESULT_OVERHEAD_BYTES = 16 * 1024 * 1024;

/** ClickHouse's error code TOO_MANY_ROWS_OR_BYTES. */
const TOO_LARGE = '396';
const UNKNOWN_SETTING = '115';
/** UNKNOWN_TABLE, UNKNOWN_IDENTIFIER, NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_DATABASE. */
const WRONG_TABLES = ['60', '47', '16', '81'];

const READ_SETTINGS = {
  // A settings profile of the user could have `break`: ClickHouse then returns a part of the result.
  distinct_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  result_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  // All subqueries read the same parts of a table, so that row counts match the positions that a search returns.
  enable_shared_storage_snapshot_in_query: 1,
  optimize_use_projections: 1,
  // A statement contains the rows of fetched blocks.
  max_query_size: String(64 * 1024 * 1024),
  // Queries are small, so compilation and a second thread would cost more than they save.
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
  max_threads: 1,
} as const;

type Statement = ExecParams & { readonly values?: Readable };

export interface RowStatement {
  readonly columns: string;
  readonly from: string;
  readonly parameters?: Parameters;
  /** Size limit for the traces in the result. Default: the result has none. */
  readonly maxBytes?: number;
}

/** Client of one ClickHouse host, over HTTP. Throws only TraceStoreUnavailable and AnswerTooLargeError. */
export class ClickHouse {
  readonly #client: ClickHouseClient;
  readonly #seconds: number;

  constructor({ url, username, password, database, ca }: ClickHouseAddress, { isForCommands = false } = {}) {
    this.#seconds = isForCommands ? MAX_COMMAND_SECONDS : MAX_EXECUTION_SECONDS;
    this.#client = createClient({
      url,
      username,
      password,
      database,
      ...(ca && { tls: { ca_cert: ca } }),
      application: 'floodgate',
      request_timeout: 1_000 * this.#seconds + REQUEST_OVERHEAD_MS,
      max_open_connections: MAX_CONNECTIONS,
      compression: { request: false, response: false },
      // Without this setting, the client would log to standard output. Its errors are thrown anyway.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /** Runs `SELECT columns from`, whose result is one row, and returns this row decoded with `read`. */
  async row<T>(
    { columns, from, parameters = {}, maxBytes = 0 }: RowStatement,
    read: (row: RowReader) => T,
  ): Promise<T> {
    // A proxy, or a cache of queries, may return the response of another request.
    const id = randomBytes(8).readBigUInt64LE();
    const query = `SELECT {id:UInt64}, ${columns} ${from} FORMAT RowBinary`;
    const settings = { ...READ_SETTINGS, max_result_bytes: String(maxBytes + RESULT_OVERHEAD_BYTES) };
    const bytes = await this.#exec(
      { query, query_params: { ...parameters, id: String(id) }, clickhouse_settings: settings },
      maxBytes,
    );
    const row = new RowReader(bytes);
    if (row.bigUint64() !== id)
      throw new TraceStoreUnavailable('ClickHouse: the response is not the result of the request');
    const value = read(row);
    row.end();
    return value;
  }

  /** Inserts rows in RowBinary format. Sends them again after a failure. The token prevents double rows. */
  async insert(table: string, columns: string, rows: Buffer): Promise<void> {
    const token = randomBytes(16).toString('hex');
    const send = (): Promise<Buffer> =>
      this.#exec({
        query: `INSERT INTO ${table} (${columns}) FORMAT RowBinary`,
        clickhouse_settings: { async_insert: 0, insert_deduplication_token: token },
        values: Readable.from(rows, { objectMode: false }),
      });
    await send().catch(send);
  }

  /** Runs a statement without a result. */
  async command(query: string): Promise<void> {
    await this.#exec({ query });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #exec({ clickhouse_settings: settings, ...statement }: Statement, maxBytes = 0): Promise<Buffer> {
    try {
      const { stream } = await this.#client.exec({
        ...statement,
        // Buffers the result on the server. Otherwise a late error would be part of a response with status 200.
        clickhouse_settings: { ...settings, max_execution_time: this.#seconds, wait_end_of_query: 1 },
      });
      return await bytesOf(stream, maxBytes);
    } catch (error) {
      if (error instanceof AnswerTooLargeError) throw error;
      if (maxBytes > 0 && error instanceof ClickHouseError && error.code === TOO_LARGE)
        throw new AnswerTooLargeError(maxBytes);
      if (error instanceof ClickHouseError && WRONG_TABLES.includes(error.code))
        throw new WrongTables(`ClickHouse: ${reasonOf(error)}: run floodgate store migrate`, {
          cause: error,
        });
      const code = error instanceof ClickHouseError ? ` (${error.code} ${error.type ?? ''})` : '';
      throw new TraceStoreUnavailable(`ClickHouse: ${reasonOf(error)}${code}`, { cause: error });
    }
  }
}

/** Whether a statement failed because this ClickHouse release lacks a setting. */
export const isUnknownSetting = ({ cause }: TraceStoreUnavailable): boolean =>
  cause instanceof ClickHouseError && cause.code === UNKNOWN_SETTING;

async function bytesOf(stream: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > maxBytes + RESULT_OVERHEAD_BYTES) {
      stream.destroy();
      throw new AnswerTooLargeError(maxBytes);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}
