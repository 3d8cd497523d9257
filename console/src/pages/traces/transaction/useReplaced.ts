import { rpc } from '../../../api/rpc.ts';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { useNetwork } from '../traceUrl.ts';
import type { BlockHeader, Trace } from '../types.ts';
import { useHeads } from '../useHeads.ts';

/** Returns whether the block of a trace was replaced after the trace was read. This is checked after a reorganisation. */
export function useReplaced({ blockNumber, blockHash }: Trace): boolean {
  const network = useNetwork();
  const { breaks } = useHeads();
  const params = [`0x${blockNumber.toString(16)}`, false];
  const { value } = useLoaded(
    () => rpc<BlockHeader | null>({ network, method: 'eth_getBlockByNumber', params }),
    [network, blockNumber, breaks],
    { isHeld: breaks === 0 },
  );
  // If no node returned the block, the previous result remains.
  const hash = value?.hash;
  return hash !== undefined && hash !== blockHash;
}
