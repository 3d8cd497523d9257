import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { rpc } from '../../../api/rpc.ts';
import { subscribe } from '../../../api/subscription.ts';
import type { BlockHeader, Trace } from '../types.ts';

/** Returns whether the block of a trace was replaced after the trace was read. This is checked at each new head. */
export function useReplaced(network: string, trace: Trace | undefined): boolean {
  const isReplaced = useSignal(false);
  useEffect(() => {
    if (trace === undefined) return undefined;
    const abort = new AbortController();
    const look = async (): Promise<void> => {
      const params = [`0x${trace.blockNumber.toString(16)}`, false];
      const answer = await rpc<BlockHeader | null>({
        network,
        method: 'eth_getBlockByNumber',
        params,
        signal: abort.signal,
      });
      // If no node returned the block, the previous result remains.
      if ('value' in answer && answer.value !== null && !abort.signal.aborted)
        isReplaced.value = answer.value.hash !== trace.blockHash;
    };
    const end = subscribe(network, ['newHeads'], {
      pushed: () => void look(),
      state: (state) => {
        // While the connection was lost, no heads arrived, and the block may have been replaced.
        if (state === 'open') void look();
      },
    });
    return () => {
      abort.abort();
      end();
    };
  }, [network, trace, isReplaced]);
  return isReplaced.value;
}
