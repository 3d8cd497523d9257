/** Where a server is reached or listens. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}
