import { live } from '../../live.ts';
import { Link } from '../../ui/link.tsx';
import { isCurrent } from '../attacks/current.ts';
import { useAttacks } from '../attacks/readPage.ts';
import { locationText, zonesText } from '../attacks/texts.ts';

const ZONES_NAMED = 2;

/** Returns an attack that another guard of the account reports, if any, and the number of further ones. */
export function useRemoteAttack() {
  const { value } = useAttacks({});
  const own = live.value?.guard?.instance;
  const [attack, ...others] = (value?.result ?? []).filter(
    (one) => one.instance !== undefined && one.instance !== own && isCurrent(one, live.value),
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
