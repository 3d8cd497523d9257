import { computed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { live, refreshPeriod } from '../../live.ts';
import { account } from '../../session.ts';
import { Link } from '../../ui/link.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { FLEET_MS, readPage } from '../attacks/readPage.ts';
import { locationText, zonesText } from '../attacks/texts.ts';

/** Time without a report after which an attack at another guard is hidden, because that guard may have stopped. */
const SILENT_MS = 60_000;
const ZONES_NAMED = 2;

const turn = computed(() => refreshPeriod(FLEET_MS));

/** Returns an attack that another guard of the account reports, if any, and the number of further ones. */
export function useRemoteAttack() {
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
  return { attack, others: others.length };
}

/** Shows an attack at another guard. Renders nothing if there is no such attack. */
export function RemoteAttack() {
  const { attack, others } = useRemoteAttack();
  if (attack === undefined) return null;
  return (
    <p class="look">
      ▲ Attack at another guard:{' '}
      <Link to={`/attacks/${attack.id}`}>
        <UntrustedText text={`${zonesText(attack, ZONES_NAMED)} at ${locationText(attack)}`} />
      </Link>
      {others > 0 && (
        <>
          {' · '}
          <Link to="/attacks">{others} more</Link>
        </>
      )}
    </p>
  );
}
