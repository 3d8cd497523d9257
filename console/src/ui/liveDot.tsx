import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { connection, lastMessageMs, streamRejection, unknownSince } from '../live.ts';
import { formatDuration } from './value/time.tsx';

const SECOND_MS = 1_000;

export function LiveDot() {
  const nowMs = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => (nowMs.value = performance.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [nowMs]);
  const sinceMs = nowMs.value - lastMessageMs.value;
  const isSilent = connection.value === 'live' && unknownSince.value !== undefined;
  const state = isSilent ? 'reconnecting' : connection.value;
  if (state === 'off') return null;
  const words = {
    connecting: 'connecting',
    live: 'live',
    reconnecting: streamRejection.value === undefined ? 'reconnecting' : 'too many streams',
  };
  return (
    <span class={`live-dot ${state}`}>
      {/* Without the time, which a screen reader would announce each second. */}
      <span role="status" title={streamRejection.value}>
        <span aria-hidden="true">{state === 'live' ? '●' : '○'}</span> {words[state]}
      </span>
      {state === 'reconnecting' && lastMessageMs.value > 0 && (
        <span class="ago">, last update {formatDuration(sinceMs)} ago</span>
      )}
    </span>
  );
}
