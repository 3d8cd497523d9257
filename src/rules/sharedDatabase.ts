/** Database shared by all instances, for data of other modules. All failures are `StoreUnavailable`. */
export interface SharedDatabase {
  /** API keys of the gateway, replicated into the memory of each instance. */
  readonly keys: SharedRecords;
  /** Executes one atomic statement and returns its rows. `parameters` are the values of $1, $2 and so on. */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** Replica of a few thousand JSON records of another module, held in memory by each instance. */
export interface SharedRecords {
  /** Milliseconds since the replica was last compared with the database. */
  readonly ageMs: number;
  readonly hadAny: boolean;
  /** Returns all known records by key. Returns a new map after each change. */
  all(): ReadonlyMap<string, unknown>;
  /** Reads the changes of other instances. */
  refresh(): Promise<void>;
  /**
   * Replaces a record with the value that `decide` returns; undefined changes nothing. Resolves with the durable
   * record. `decide` may be called again if the connection is lost.
   */
  change(key: string, decide: (stored: unknown) => unknown): Promise<unknown>;
}
