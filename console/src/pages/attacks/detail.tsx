import { computed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { curlOf } from '../../api/client.ts';
import { attackCall, readAttack } from '../../api/guard.ts';
import type { Attack } from '../../api/types.ts';
import { live, turnOf } from '../../live.ts';
import { Copy } from '../../ui/copy.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { Plain } from '../../ui/plain.tsx';
import { numberText, percentText } from '../../ui/quantity.tsx';
import { durationOf, Time } from '../../ui/time.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { AttackGraph } from './attackGraph.tsx';
import { Changes } from './changes.tsx';
import { FLEET_MS } from './readPage.ts';
import { Tops } from './tops.tsx';
import { lastedMs, noticedWords, placeText, reportOf, usersText, zonesText } from './words.ts';

const REFRESH_MS = 2_000;
const ZONES_NAMED = 5;
const TOP_LINES = 10;

const turn = computed(() => turnOf(REFRESH_MS));
/** A guard elsewhere tells of its attacks so often. */
const elsewhereTurn = computed(() => turnOf(FLEET_MS));

export function AttackDetail({ id }: { readonly id: string }) {
  const isOpen = (live.value?.guard?.attacks ?? []).some((attack) => attack.id === id);
  const lastsElsewhere = useSignal(false);
  const refresh = isOpen ? turn.value : lastsElsewhere.value ? elsewhereTurn.value : 0;
  const { loaded, again } = useLoaded(() => readAttack(id), [id, isOpen, refresh]);
  const { value, failure } = loaded.value;
  useEffect(() => {
    lastsElsewhere.value = !isOpen && value?.result.state === 'active';
  }, [lastsElsewhere, isOpen, value]);
  return (
    <div class="page">
      <p class="way-back">
        <Link to="/attacks">← All attacks</Link>
      </p>
      {failure && <ErrorBox failure={failure} retry={again} />}
      {value === undefined ? (
        failure === undefined && <h1 class="quiet">Reading the attack …</h1>
      ) : (
        <Told attack={value.result} />
      )}
    </div>
  );
}

function Told({ attack }: { readonly attack: Attack }) {
  const lasts = attack.state === 'active';
  const place = placeText(attack);
  return (
    <>
      <div class="head">
        <section>
          <h1 class={lasts ? 'harm' : undefined}>
            {lasts ? '▲ Attack' : 'Attack'} on <Plain text={zonesText(attack, ZONES_NAMED)} />
            {place !== undefined && (
              <>
                {' at '}
                <Plain text={place} />
              </>
            )}
            {lasts ? ' lasts' : ' is over'}.
          </h1>
          <p>
            {lasts ? 'Since ' : 'From '}
            <Time at={attack.started_on} />
            {lasts ? '' : ' '}
            {!lasts && (
              <>
                to <Time at={attack.last_seen_on} form="clock" />
              </>
            )}{' '}
            ({durationOf(lastedMs(attack))}). <strong>{percentText(attack.refused_share)}</strong> of{' '}
            {numberText(attack.queries)} queries refused
            {attack.would_refuse > 0 && (
              <>
                , <strong>{percentText(attack.would_refuse / attack.queries)}</strong> would have been
              </>
            )}
            . Users: <strong>{usersText(attack)}</strong>.
          </p>
        </section>
        <div class="actions">
          <Copy text={() => reportOf(attack)} label="Copy report" />
          <Copy text={() => location.href} label="Copy link" />
          <Copy text={() => curlOf(attackCall(attack.id))} label="Copy as curl" />
        </div>
      </div>
      <AttackGraph attack={attack} />
      <section>
        <h2>{attack.rule?.mode === 'enabled' ? 'Refused most' : 'Would be refused most'}</h2>
        <Tops attack={attack} most={TOP_LINES} />
      </section>
      <div class="two-columns">
        <section>
          <h2>Facts</h2>
          <Facts attack={attack} />
        </section>
        <Changes attack={attack} />
      </div>
      {attack.sampled_names.length > 0 && (
        <details>
          <summary>
            <h2>Some of the names</h2>
          </summary>
          <ul class="samples">
            {attack.sampled_names.map(({ name, type, network }) => (
              <li key={`${name} ${type} ${network}`}>
                <code>
                  <Plain text={name} />
                </code>{' '}
                {type}{' '}
                <span class="quiet">
                  <Plain text={network} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Facts({ attack }: { readonly attack: Attack }) {
  const { now, peak, rule, known_names: known } = attack;
  const place = placeText(attack);
  const rows: readonly (readonly [string, string])[] = [
    ['Noticed by', noticedWords[attack.noticed_by]],
    [
      'Queries a second',
      `${attack.state === 'active' ? `${numberText(now.queries)} now, ` : ''}${numberText(peak.queries)} at most`,
    ],
    ['For unknown names', `${numberText(attack.unknown_names)} of ${numberText(attack.queries)}`],
    ['Refused', `${numberText(attack.refused)}; would have been ${numberText(attack.would_refuse)}`],
    [
      'Known names',
      `${numberText(known.asked)} asked, ${numberText(known.answered)} answered, ${numberText(known.refused)} refused`,
    ],
    ['Zones', `${numberText(attack.zone_count)}: ${zonesText(attack, 20)}`],
    ...(place === undefined ? [] : [['Seen at', place] as const]),
    ['Id', attack.id],
  ];
  return (
    <dl class="facts">
      {rows.map(([title, text]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <Plain text={text} />
          </dd>
        </div>
      ))}
      <dt>Rule in force</dt>
      <dd>
        {rule === undefined ? (
          'none'
        ) : (
          <>
            <Link to={`/rules/${rule.id}`}>{rule.id.slice(0, 8)}</Link>, {rule.mode}
          </>
        )}
      </dd>
    </dl>
  );
}
