import { live } from '../live.ts';
import { EmptyState } from '../ui/emptyState.tsx';
import { Quantity } from '../ui/quantity.tsx';

/** Is there an attack? */
export function Now() {
  const guard = live.value?.guard;
  if (guard === undefined) return <EmptyState title="Waiting for the guard" />;
  return (
    <div class="page">
      <h1>
        {guard.attack ? 'Attack' : 'No attack'} <Quantity value={guard.since_start.passed} unit="queries passed" span="since the start" />
      </h1>
    </div>
  );
}
