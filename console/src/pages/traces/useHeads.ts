import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { subscribe } from '../../api/subscription.ts';
import { useNetwork } from './traceUrl.ts';

/**
 * Hook that returns the number of new heads of the shown network, and whether it is subscribed to them. The number also
 * increases after each connection, because heads may have been missed. `isSkipped`: returns whether to skip a head.
 */
export function useHeads(isSkipped = () => false) {
  const network = useNetwork();
  const heads = useSignal(0);
  const isLive = useSignal(false);
  useEffect(
    () =>
      subscribe(network, ['newHeads'], {
        pushed: () => {
          if (!isSkipped()) heads.value++;
        },
        state: (state) => {
          isLive.value = state === 'open';
          if (state === 'open') heads.value++;
        },
      }),
    [network],
  );
  return { heads: heads.value, isLive: isLive.value };
}
