import type { AttackSummary, GuardStatus } from '../../api/types.ts';
import { currentAttacks } from '../../attackSign.ts';
import { live, unknownSince } from '../../live.ts';
import { isHarmful, meanRates, usersShare } from '../../rates.ts';
import { Link } from '../../ui/link.tsx';
import { counted, formatNumber, formatPercent, Quantity } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UnknownSince } from '../../ui/value/unknownSince.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { zonesText } from '../attacks/texts.ts';
import { MoreAttacks, RemoteAttack } from './remoteAttack.tsx';

const MEAN_SECONDS = 10;
const ZONES_NAMED = 2;

export function Banner() {
  const guard = live.value?.guard;
  const since = unknownSince.value;
  if (since !== undefined) return <OutOfContact since={since} guard={guard} />;
  if (guard === undefined) return <section class="banner quiet">Reading the state of the guard …</section>;
  const [attack, ...others] = currentAttacks.value;
  return (
    <section class={`banner ${guard.attack ? (isHarmful.value ? 'harm' : 'look') : 'well'}`}>
      {attack !== undefined && guard.attack ? (
        <UnderAttack attack={attack} others={others.length} />
      ) : guard.attack ? (
        <h1>▲ Attack, detected just now.</h1>
      ) : (
        <AllWell guard={guard} />
      )}
      <RemoteAttack />
      {!guard.ready && (
        <p class="look">! The guard is still learning: it has not seen enough queries to drop any.</p>
      )}
      {guard.not_ready !== undefined && (
        <p class="look">
          ! Not running as configured yet: <UntrustedText text={guard.not_ready} />
        </p>
      )}
    </section>
  );
}

function OutOfContact({ since, guard }: { readonly since: Date; readonly guard: GuardStatus | undefined }) {
  return (
    <section class="banner quiet">
      <UnknownSince since={since} />
      <p>
        The server sends nothing. This page reconnects automatically, and shows the last known state
        {guard && (guard.attack ? ': there was an attack' : ': there was no attack')}.
      </p>
    </section>
  );
}

function UnderAttack({ attack, others }: { readonly attack: AttackSummary; readonly others: number }) {
  const { now } = attack;
  const share = usersShare.value;
  return (
    <>
      <h1>
        ▲ Attack on <UntrustedText text={zonesText(attack, ZONES_NAMED)} /> since{' '}
        <Time at={attack.started_on} form="clock" />.
      </h1>
      <p>
        {/* In a narrow window, each part has its own line, so that a growing number moves no words elsewhere. */}
        <span class="piece">{formatNumber(now.queries)} queries/s,</span> <Limited attack={attack} />{' '}
        <span class="piece">
          Users: <strong>{share === undefined ? 'no queries' : `${formatPercent(share)} answered`}</strong>,
          last {MEAN_SECONDS} s.
        </span>{' '}
        <Link to={`/attacks/${attack.id}`}>Attack details</Link>
        <MoreAttacks count={others} />
      </p>
    </>
  );
}

/**
 * Shows the shares of the last second's queries that were limited or would be dropped. They come from counters, so a
 * change of the rule's mode does not alter them.
 */
function Limited({ attack: { now, rule } }: { readonly attack: AttackSummary }) {
  const { queries, limited, would_drop: wouldDrop } = now;
  const shareOf = (count: number): string => formatPercent(queries === 0 ? 0 : Math.min(1, count / queries));
  if (limited + wouldDrop === 0 && rule?.mode !== 'enabled' && rule?.mode !== 'monitoring')
    return (
      <span class="piece">
        all of them passed: {rule === undefined ? 'no rule is in force.' : 'the rule is disabled.'}
      </span>
    );
  const showsWouldDrop = wouldDrop > 0 || rule?.mode === 'monitoring';
  return (
    <>
      {(limited > 0 || !showsWouldDrop) && (
        <span class="piece">
          <strong>{shareOf(limited)}</strong> of them limited{showsWouldDrop ? ',' : '.'}
        </span>
      )}{' '}
      {showsWouldDrop && (
        <span class="piece">
          <strong>{shareOf(wouldDrop)}</strong>
          {limited > 0 ? '' : ' of them'} would be dropped{' '}
          {rule?.mode === 'monitoring' ? 'if the rule were enabled.' : 'if the guard had learned enough.'}
        </span>
      )}
    </>
  );
}

function AllWell({ guard }: { readonly guard: GuardStatus }) {
  const { queries, limited, wouldDrop } = meanRates(MEAN_SECONDS);
  const mode = guard.rule?.mode;
  return (
    <>
      <h1>✓ No attack.</h1>
      <p>
        <Quantity value={queries} unit="queries/s" />,{' '}
        {(limited > 0 || mode !== 'monitoring') && (
          <>
            <Quantity value={limited} unit="limited" />,{' '}
          </>
        )}
        {(wouldDrop > 0 || mode === 'monitoring') && (
          <>
            <Quantity value={wouldDrop} unit="would be dropped" />,{' '}
          </>
        )}
        <span class="quiet">last {MEAN_SECONDS} s</span>. The guard knows{' '}
        {counted(guard.profile_names, 'name')}.
      </p>
    </>
  );
}
