import type { ResultBytes } from '../rpc/index.ts';

/** One row of the method table: a method that the gateway serves. */
export interface Method {
  readonly name: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** The result as JSON bytes. Throws RpcError where the parameters or the circumstances do not allow an answer. */
  handle(params: readonly unknown[]): Promise<ResultBytes> | ResultBytes;
}
