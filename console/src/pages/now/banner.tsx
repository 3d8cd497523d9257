import type { AttackSummary, GuardStatus } from '../../api/types.ts';
import { live } from '../../live.ts';
import { meanOf } from '../../rates.ts';
import { Link } from '../../ui/link.tsx';
import { Plain } from '../../ui/plain.tsx';
import { numberText, percentText, Quantity, wordFor } from '../../ui/quantity.tsx';
import { Time } from '../../ui/time.tsx';
import { zonesText } from '../attacks/words.ts';
import { Elsewhere } from './elsewhere.tsx';

const MEAN_SECONDS = 10;
const ZONES_NAMED = 2;

/** The answer to the question of the page, in words. */
export function Banner() {
  const guard = live.value?.guard;
  if (guard === undefined) return <section class="banner quiet">Asking the guard …</section>;
  const [attack, ...others] = guard.attacks.toSorted((one, other) => other.now.queries - one.now.queries);
  return (
    <section class={`banner ${guard.attack ? 'harm' : 'well'}`}>
      {attack !== undefined && guard.attack ? (
        <UnderAttack attack={attack} others={others.length} />
      ) : guard.attack ? (
        <h1>▲ Attack, noticed just now.</h1>
      ) : (
        <AllWell guard={guard} />
      )}
      <Elsewhere />
      {!guard.ready && (
        <p class="look">! The guard is still learning: it has not seen enough to refuse anything.</p>
      )}
      {guard.not_ready !== undefined && (
        <p class="look">
          ! Not as configured yet: <Plain text={guard.not_ready} />
        </p>
      )}
    </section>
  );
}

function UnderAttack({ attack, others }: { readonly attack: AttackSummary; readonly others: number }) {
  const { known_names: known, now, rule } = attack;
  const isRefusing = rule?.mode === 'enabled';
  const share = now.queries === 0 ? 0 : Math.min(1, now.refused / now.queries);
  return (
    <>
      <h1>
        ▲ Attack on <Plain text={zonesText(attack, ZONES_NAMED)} /> since{' '}
        <Time at={attack.started_on} form="clock" />.
      </h1>
      <p>
        {/* In a narrow window each piece is a line: a number that grows moves no word to another one. */}
        <span class="piece">
          {numberText(now.queries)} {wordFor(now.queries, 'query', 'queries')} a second,
        </span>{' '}
        {rule === undefined ? (
          <span class="piece">all of them passed on: no rule is in force.</span>
        ) : (
          <>
            <span class="piece">
              <strong>{percentText(share)}</strong> of them {isRefusing ? 'refused.' : 'would be refused'}
            </span>{' '}
            {!isRefusing && (
              <span class="piece">
                {rule.mode === 'monitoring' ? 'were the rule enabled.' : '– but the rule is disabled.'}
              </span>
            )}
          </>
        )}{' '}
        <span class="piece">
          Users:{' '}
          <strong>
            {known.asked === 0 ? 'none asked' : `${percentText(known.answered / known.asked)} answered`}
          </strong>
          .
        </span>{' '}
        <Link to={`/attacks/${attack.id}`}>All of this attack</Link>
        {others > 0 && (
          <>
            {' · '}
            <Link to="/attacks">{others} more</Link>
          </>
        )}
      </p>
    </>
  );
}

function AllWell({ guard }: { readonly guard: GuardStatus }) {
  const { queries, refused } = meanOf(MEAN_SECONDS);
  const isRefusing = guard.rule?.mode !== 'monitoring';
  return (
    <>
      <h1>✓ No attack.</h1>
      <p>
        <Quantity value={queries} unit={`${wordFor(queries, 'query', 'queries')} a second`} />,{' '}
        <Quantity
          value={refused}
          unit={isRefusing ? 'refused' : 'would be refused'}
          span={`last ${MEAN_SECONDS} s`}
        />
        . The guard knows {numberText(guard.profile_names)} {wordFor(guard.profile_names, 'name', 'names')}.
      </p>
    </>
  );
}
