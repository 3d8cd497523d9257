/** The database that instances share, for what other rooms keep beside the rules. Every failure is a `StoreUnavailable`. */
export interface SharedDatabase {
  /** API keys of the gateway, which each instance looks up without asking the database. */
  readonly keys: SharedRecords;
  /** The rows of one statement, which is carried out whole or not at all. Values go into its parameters ($1, $2). */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** A few thousand records of another room, as JSON, which every instance has in memory. */
export interface SharedRecords {
  /** How long ago what is known here was compared with the database. */
  readonly ageMs: number;
  /** Whether there ever was one, as far as is known here. */
  readonly hadAny: boolean;
  /** All that is known, by key; another map after each change. */
  all(): ReadonlyMap<string, unknown>;
  /** Reads what other instances have changed until now. */
  refresh(): Promise<void>;
  /**
   * Puts what `decide` makes of the stored record in its place; undefined changes nothing. Resolves when it is durable, with the record as
   * it then is. `decide` may be asked again, where a connection was lost.
   */
  change(key: string, decide: (stored: unknown) => unknown): Promise<unknown>;
}
