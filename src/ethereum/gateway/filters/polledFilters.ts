import type { Result } from '../../jsonrpc/index.ts';
import type { CallContext } from '../method.ts';
import type { LogFilter } from '../methods/logFilter.ts';

/** The HTTP filters of a network. All reject with, or throw, RpcError. */
export interface PolledFilters {
  /** A new filter of logs, or of blocks where there is no log filter. Resolves with its id. */
  make(logs: LogFilter | undefined, context: CallContext): Promise<string>;
  /** What came since it was asked last, as JSON. */
  changes(id: string, context: CallContext): Promise<readonly string[]>;
  /** All logs of the range of a filter, as eth_getLogs gives them. */
  logs(id: string, context: CallContext): Promise<Result> | Result;
  /** Ends a filter. Returns whether there was one. */
  uninstall(id: string): Promise<boolean> | boolean;
}
