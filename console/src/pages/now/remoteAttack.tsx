import { live } from '../../live.ts';
import { Link } from '../../ui/link.tsx';
import { useAttacks } from '../attacks/readPage.ts';
import { locationText, zonesText } from '../attacks/texts.ts';

/** Time without a report after which an attack at another guard is hidden, because that guard may have stopped. */
const SILENT_MS = 60_000;
const ZONES_NAMED = 2;

/** Returns an attack that another guard of the account reports, if any, and the number of further ones. */
export function useRemoteAttack() {
  const { value } = useAttacks({}).loaded.value;
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

export function RemoteAttack() {
  const { attack, others } = useRemoteAttack();
  if (attack === undefined) return null;
  return (
    <p class="look">
      ▲ Attack at another guard:{' '}
      <Link
        to={`/attacks/${attack.id}`}
        text={`${zonesText(attack, ZONES_NAMED)} at ${locationText(attack)}`}
      />
      <MoreAttacks count={others} />
    </p>
  );
}

export const MoreAttacks = ({ count }: { readonly count: number }) =>
  count > 0 ? (
    <>
      {' · '}
      <Link to="/attacks">{count} more</Link>
    </>
  ) : null;
