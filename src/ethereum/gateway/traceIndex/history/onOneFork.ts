import { RpcError } from '../../../jsonrpc/index.ts';
import { BlockReplacedError } from '../../../traces/index.ts';
import { MAX_READS } from '../traceFilter/fromIndex.ts';

/**
 * Returns the result of `read`, which reads several pages of the index. If a reorg replaced blocks between two pages,
 * reads again, because all pages must be from one fork. Throws RpcError.
 */
export async function onOneFork<T>(read: () => Promise<T>): Promise<T> {
  for (let left = MAX_READS; left > 0; left--)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BlockReplacedError)) throw error;
    }
  throw new RpcError('resourceNotFound', 'blocks of the range are being replaced; try again');
}
