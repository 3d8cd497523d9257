import { CompiledQuery } from 'kysely';
import type { Connection } from './connection.ts';

/** Returns a query for SQL text. Values belong in `parameters` ($1, $2), never in the text. */
export function statement<Row>(sql: string, parameters: readonly unknown[] = []): CompiledQuery<Row> {
  return CompiledQuery.raw(sql, [...parameters]) as CompiledQuery<Row>; // the caller declares the type of its rows
}

export function rowsOf<Row>(connection: Connection, sql: string): Promise<Row[]> {
  return connection.query(statement<Row>(sql));
}
