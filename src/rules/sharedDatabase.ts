/** Database that all instances share, as other modules use it for their data. All failures are `StoreUnavailable`. */
export interface SharedDatabase {
  /** API keys of the gateway. Each instance has a replica of them in memory. */
  readonly keys: SharedRecords;
  /** Executes one atomic statement and returns its rows. `parameters` are the values of $1, $2 and so on. */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** A few thousand JSON records of another module, with a replica in the memory of each instance. */
export interface SharedRecords {
  /** Milliseconds since the replica in memory was last compared with the database. */
  readonly ageMs: number;
  readonly hadAny: boolean;
  /** Returns all records of the replica by key. Returns a new map after each change. */
  all(): ReadonlyMap<string, unknown>;
  /** Updates the replica with the changes that other instances made. */
  refresh(): Promise<void>;
  /**
   * Replaces a record with the value that `decide` returns, or keeps it if `decide` returns undefined. Resolves with
   * the stored record after a durable commit. `decide` may be called again if the connection is lost.
   */
  change(key: string, decide: (stored: unknown) => unknown): Promise<unknown>;
}
