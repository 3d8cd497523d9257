import { RpcError } from '../../jsonrpc/index.ts';

/** There is no such filter, or it cannot go on: its client makes another. */
export const notFound = (why: string): RpcError => new RpcError('filterNotFound', `filter not found: ${why}`);
