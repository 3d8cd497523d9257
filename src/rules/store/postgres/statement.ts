import { CompiledQuery } from 'kysely';
import type { Connection } from './connection.ts';

/** A query in SQL, for what is simpler to say so. Values go into its parameters ($1, $2), never into the text. */
export function statement<Row>(sql: string, parameters: readonly unknown[] = []): CompiledQuery<Row> {
  return CompiledQuery.raw(sql, [...parameters]) as CompiledQuery<Row>; // whoever writes it says what its rows are
}

export function rowsOf<Row>(connection: Connection, sql: string): Promise<Row[]> {
  return connection.query(statement<Row>(sql));
}
