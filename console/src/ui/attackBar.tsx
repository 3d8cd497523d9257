import { useLocation } from 'wouter-preact';
import { currentAttacks, isAttacked } from '../attackSign.ts';
import { hasGuard, unknownSince } from '../live.ts';
import { zonesText } from '../pages/attacks/texts.ts';
import { useRemoteAttack } from '../pages/now/remoteAttack.tsx';
import { isHarmful, usersShare } from '../rates.ts';
import { may } from '../session.ts';
import { Link } from './link.tsx';
import { formatPercent } from './value/quantity.tsx';
import { Time } from './value/time.tsx';
import { UntrustedText } from './value/untrustedText.tsx';

const ZONES_NAMED = 2;

/**
 * Bar below the navigation of each page while there is an attack. The page Now has a headline instead. A server without
 * a guard has no data of attacks.
 */
export function AttackBar() {
  const [location] = useLocation();
  return location === '/' || !hasGuard.value || !may('dns_protection:read') ? null : <Bar />;
}

function Bar() {
  const own = currentAttacks.value[0];
  const remote = useRemoteAttack().attack;
  const attack = own ?? remote;
  if (attack === undefined && !isAttacked.value) return null;
  const since = unknownSince.value;
  const state = since !== undefined ? 'quiet' : own !== undefined && isHarmful.value ? 'harm' : 'look';
  return (
    <aside class={`attack-bar ${state}`} aria-label="Attack">
      <Link to={attack === undefined ? '/' : `/attacks/${attack.id}`}>
        {since === undefined ? '▲' : '?'} Attack
        {attack && (
          <>
            {' on '}
            <UntrustedText text={zonesText(attack, ZONES_NAMED)} /> since{' '}
            <Time at={attack.started_on} form="clock" />
          </>
        )}
        {own &&
          usersShare.value !== undefined &&
          `. Users: ${formatPercent(usersShare.value)} answered, last 10 s`}
        {since !== undefined && ' (last known state)'}
      </Link>
    </aside>
  );
}
