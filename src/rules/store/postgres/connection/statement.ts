/** SQL text and its parameters. `Row` is the type of the rows that it returns. */
export interface Statement<Row> {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Never set: makes `Row` a part of the type. */
  readonly row?: Row;
}

/**
 * Returns a statement whose rows the caller declares. Values belong in `parameters` ($1, $2), never in the text. JSON
 * is a parameter with text, so that its members keep their order.
 */
export const statement = <Row>(sql: string, parameters: readonly unknown[] = []): Statement<Row> => ({
  sql,
  parameters,
});
