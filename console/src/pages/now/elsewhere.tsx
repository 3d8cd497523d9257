import { computed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { live, turnOf } from '../../live.ts';
import { account } from '../../session.ts';
import { Link } from '../../ui/link.tsx';
import { Plain } from '../../ui/plain.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { FLEET_MS, readPage } from '../attacks/readPage.ts';
import { placeText, zonesText } from '../attacks/words.ts';

/** A guard that has told nothing of its attack for longer may be gone. */
const SILENT_MS = 60_000;
const ZONES_NAMED = 2;

const turn = computed(() => turnOf(FLEET_MS));

/** Whether other guards of the account see an attack. Nothing where there are none. */
export function Elsewhere() {
  const isOfFleet = useSignal(false);
  const { loaded } = useLoaded(() => readPage({}), [account.value, isOfFleet.value ? turn.value : 0]);
  const { value } = loaded.value;
  useEffect(() => {
    isOfFleet.value = value?.isOfFleet ?? false;
  }, [isOfFleet, value]);
  const nowMs = Date.parse(live.value?.at ?? '');
  const own = live.value?.guard?.instance;
  const [attack, ...others] = (value?.result ?? []).filter(
    ({ state, instance, last_seen_on }) =>
      state === 'active' &&
      instance !== undefined &&
      instance !== own &&
      nowMs - Date.parse(last_seen_on) < SILENT_MS,
  );
  if (attack === undefined) return null;
  return (
    <p class="harm">
      ▲ Attack elsewhere:{' '}
      <Link to={`/attacks/${attack.id}`}>
        <Plain text={`${zonesText(attack, ZONES_NAMED)} at ${placeText(attack)}`} />
      </Link>
      {others.length > 0 && (
        <>
          {' · '}
          <Link to="/attacks">{others.length} more</Link>
        </>
      )}
    </p>
  );
}
