import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { subscribe } from '../../api/subscription.ts';
import { useNetwork } from './traceUrl.ts';
import type { BlockHeader } from './types.ts';

/**
 * Hook that returns the number of new heads of the shown network, and whether it is subscribed to them. The number also
 * increases after each connection, because heads may have been missed. `isSkipped`: returns whether to skip a head.
 * `breaks` counts the heads that do not follow the one before: blocks may have been replaced.
 */
export function useHeads(isSkipped = () => false) {
  const network = useNetwork();
  const heads = useSignal(0);
  const breaks = useSignal(0);
  const isLive = useSignal(false);
  useEffect(() => {
    let last: string | undefined;
    return subscribe<BlockHeader>(network, ['newHeads'], {
      pushed: ({ hash, parentHash }) => {
        if (parentHash !== last) breaks.value++;
        last = hash;
        if (!isSkipped()) heads.value++;
      },
      state: (state) => {
        isLive.value = state === 'open';
        if (state !== 'open') return;
        if (!isSkipped()) heads.value++;
        breaks.value++;
      },
    });
  }, [network]);
  return { heads: heads.value, breaks: breaks.value, isLive: isLive.value };
}
