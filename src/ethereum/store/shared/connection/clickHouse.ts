import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ExecParams,
  parseError,
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
/** A request with its whole response may take this multiple of the maximum time without data. */
const RESPONSE_TIME_FACTOR = 3;
const MAX_CONNECTIONS = 16;
/** Size limit for the parts of a result that are not traces: positions and row counts. */
const RESULT_OVERHEAD_BYTES = 16 * 1024 * 1024;
/** Number of bytes of an error response that are read. Its first line contains the code and the message. */
const MAX_ERROR_BYTES = 2 * 1024;
const ERROR_CODE_HEADER = 'x-clickhouse-exception-code';

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

type ExecResult = Awaited<ReturnType<ClickHouseClient['exec']>>;
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
  /** Maximum time without data in a request. */
  readonly #silenceMs: number;

  constructor({ url, username, password, database, ca }: ClickHouseAddress, { isForCommands = false } = {}) {
    this.#seconds = isForCommands ? MAX_COMMAND_SECONDS : MAX_EXECUTION_SECONDS;
    this.#silenceMs = 1_000 * this.#seconds + REQUEST_OVERHEAD_MS;
    this.#client = createClient({
      url,
      username,
      password,
      database,
      ...(ca && { tls: { ca_cert: ca } }),
      application: 'floodgate',
      request_timeout: this.#silenceMs,
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
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), RESPONSE_TIME_FACTOR * this.#silenceMs);
    try {
      const response = await this.#client.exec({
        ...statement,
        // Buffers the result on the server. Otherwise a late error would be part of a response with status 200.
        clickhouse_settings: { ...settings, max_execution_time: this.#seconds, wait_end_of_query: 1 },
        abort_signal: deadline.signal,
        // The client would read an error response of any size.
        ignore_error_response: true,
      });
      if (response.http_status_code !== 200 || response.response_headers[ERROR_CODE_HEADER] !== undefined)
        throw await errorOf(response);
      return await bytesOf(response.stream, maxBytes);
    } catch (error) {
      if (error instanceof AnswerTooLargeError) throw error;
      if (maxBytes > 0 && error instanceof ClickHouseError && error.code === TOO_LARGE)
        throw new AnswerTooLargeError(maxBytes);
      if (error instanceof ClickHouseError && WRONG_TABLES.includes(error.code))
        throw new WrongTables(`ClickHouse: ${reasonOf(error)}: run floodgate store migrate`, {
          cause: error,
        });
      if (deadline.signal.aborted)
        throw new TraceStoreUnavailable('ClickHouse: the response is incomplete after the time limit', {
          cause: error,
        });
      const code = error instanceof ClickHouseError ? ` (${error.code} ${error.type ?? ''})` : '';
      throw new TraceStoreUnavailable(`ClickHouse: ${reasonOf(error)}${code}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether a statement failed because this ClickHouse release lacks a setting. */
export const isUnknownSetting = ({ cause }: TraceStoreUnavailable): boolean =>
  cause instanceof ClickHouseError && cause.code === UNKNOWN_SETTING;

async function errorOf({ stream, response_headers: headers, http_status_code }: ExecResult): Promise<Error> {
  let text = '';
  for await (const piece of stream as AsyncIterable<Buffer>) {
    text += piece.toString('latin1');
    if (text.length > MAX_ERROR_BYTES) break;
  }
  const error = parseError(text.slice(0, MAX_ERROR_BYTES));
  if (error instanceof ClickHouseError) return error;
  // A long message ends after these bytes, and parseError finds no type. Proxies send no code.
  const code = headers[ERROR_CODE_HEADER];
  return code === undefined
    ? new Error(`HTTP status ${http_status_code}`)
    : new ClickHouseError({ message: error.message, code: String(code) });
}

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
