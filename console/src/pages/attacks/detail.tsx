import { useRef } from 'preact/hooks';
import { attackCall, readAttack } from '../../api/account.ts';
import { curlOf } from '../../api/client.ts';
import type { Attack } from '../../api/types.ts';
import { live, unknownSince } from '../../live.ts';
import { Copy } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Link } from '../../ui/link.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { formatDuration, Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { AttackGraph } from './attackGraph.tsx';
import { Changes } from './changes.tsx';
import { isCurrent } from './current.ts';
import { FLEET_MS } from './readPage.ts';
import { SampleList } from './sampleList.tsx';
import {
  attackDurationMs,
  detectionReasons,
  locationText,
  reportOf,
  topHeading,
  usersText,
  zonesText,
} from './texts.ts';
import { TopLists } from './tops.tsx';

const REFRESH_MS = 2_000;
const ZONES_NAMED = 5;
const TOP_LINES = 10;

export function AttackDetail({ id }: { readonly id: string }) {
  const isOpen = (live.value?.guard?.attacks ?? []).some((attack) => attack.id === id);
  const reads = useLoaded(() => readAttack(id), [id, isOpen], {
    everyMs: (value) => (isOpen ? REFRESH_MS : value?.result.state === 'active' ? FLEET_MS : undefined),
  });
  return (
    <DetailPage of={reads} what="attack" list={['/attacks', 'All attacks']}>
      {({ result }) => <AttackReport attack={result} />}
    </DetailPage>
  );
}

function AttackReport({ attack }: { readonly attack: Attack }) {
  const since = unknownSince.value;
  const lasts = attack.state === 'active';
  const isActive = isCurrent(attack, live.value);
  const wasActive = useRef(lasts);
  const isUnknown = lasts && since !== undefined;
  const place = locationText(attack);
  return (
    <>
      <div class="head attack-head">
        <section>
          <h1 class={isUnknown ? 'quiet' : isActive ? 'look' : undefined}>
            {isUnknown ? '? ' : isActive ? '▲ ' : ''}Attack on{' '}
            <UntrustedText text={zonesText(attack, ZONES_NAMED)} />
            {place !== undefined && (
              <>
                {' at '}
                <UntrustedText text={place} />
              </>
            )}
            {isUnknown && (
              <>
                : unknown since <Time at={since.toISOString()} form="clock" />
              </>
            )}
            {!isUnknown && lasts && !isActive && (
              <>
                : last seen at <Time at={attack.last_seen_on} form="clock" />
              </>
            )}
            {!isUnknown && isActive && ' is active'}
            {!lasts && ' has ended'}.
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
            ({formatDuration(attackDurationMs(attack))}).{' '}
            <strong>{formatPercent(attack.limited_share)}</strong> of {formatNumber(attack.queries)} queries
            limited
            {attack.would_drop > 0 && (
              <>
                , <strong>{formatPercent(attack.would_drop / attack.queries)}</strong> would have been dropped
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
      <section class={wasActive.current ? 'growing-tops' : undefined}>
        <h2>{topHeading(attack)}</h2>
        <TopLists attack={attack} most={TOP_LINES} />
      </section>
      <div class="two-columns">
        <section>
          <h2>Facts</h2>
          <AttackFacts attack={attack} />
        </section>
        <Changes attack={attack} />
      </div>
      {attack.sampled_names.length > 0 && (
        <details>
          <summary>
            <h2>Sample names</h2>
          </summary>
          <SampleList queries={attack.sampled_names} />
        </details>
      )}
    </>
  );
}

function AttackFacts({ attack }: { readonly attack: Attack }) {
  const { now, peak, rule, known_names: known } = attack;
  const place = locationText(attack);
  const texts: readonly (readonly [string, string])[] = [
    ['Detected by', detectionReasons[attack.detected_by]],
    [
      'Queries/s',
      `${attack.state === 'active' ? `${formatNumber(now.queries)} now, ` : ''}peak ${formatNumber(peak.queries)}`,
    ],
    ['Queries for unknown names', `${formatNumber(attack.unknown_names)} of ${formatNumber(attack.queries)}`],
    ['Limited', `${formatNumber(attack.limited)} dropped or truncated`],
    ['Would have been dropped', formatNumber(attack.would_drop)],
    [
      'Known names',
      `${formatNumber(known.asked)} queries, ${formatNumber(known.answered)} answered, ${formatNumber(known.limited)} limited`,
    ],
    ['Zones', `${formatNumber(attack.zone_count)}: ${zonesText(attack, 20)}`],
    ...(place === undefined ? [] : [['Seen at', place] as const]),
    ['Id', attack.id],
  ];
  const ruleInForce = rule && (
    <>
      <Link to={`/rules/${rule.id}`}>{rule.id.slice(0, 8)}</Link>, {rule.mode}
    </>
  );
  return (
    <Facts
      rows={[
        ...texts.map(([title, text]) => [title, <UntrustedText key={title} text={text} />] as const),
        ['Rule in force', ruleInForce ?? 'none'],
      ]}
    />
  );
}
