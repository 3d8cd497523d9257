import { useSignal } from '@preact/signals';
import { formatNumber } from '../value/quantity.tsx';

/** Number of items at first, and that each click adds. More items would delay key presses and clicks. */
const SHOWN = 100;

/** Hook that returns the first items of a long list that was already loaded, and a button that shows more. */
export function useFirst<Item>(items: readonly Item[]) {
  const shown = useSignal(SHOWN);
  const left = items.length - shown.value;
  const showMore = left > 0 && (
    <p class="end">
      <button type="button" onClick={() => (shown.value += SHOWN)}>
        Show more ({formatNumber(left)} left)
      </button>
    </p>
  );
  return { first: items.slice(0, shown.value), showMore };
}
