export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}
