import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { connection, lastMessageMs, whyNotLive } from '../live.ts';
import { durationOf } from './time.tsx';

const SECOND_MS = 1_000;

/** Whether what is shown is live; since when not, where it is not. */
export function LiveDot() {
  const nowMs = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      nowMs.value = performance.now();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [nowMs]);
  const ago =
    lastMessageMs.value === 0 ? '' : `, last update ${durationOf(nowMs.value - lastMessageMs.value)} ago`;
  const words = {
    off: 'not live',
    connecting: 'connecting',
    live: 'live',
    reconnecting: whyNotLive.value === undefined ? `reconnecting${ago}` : `too many listen${ago}`,
  };
  return (
    <span class={`live-dot ${connection.value}`} role="status" title={whyNotLive.value}>
      <span aria-hidden="true">{connection.value === 'live' ? '●' : '○'}</span> {words[connection.value]}
    </span>
  );
}
