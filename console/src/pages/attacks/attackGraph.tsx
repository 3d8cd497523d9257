import { readAnalytics } from '../../api/account.ts';
import type { Attack } from '../../api/types.ts';
import { live } from '../../live.ts';
import { modeMarks, type Point } from '../../ratePoints.ts';
import { points } from '../../rates.ts';
import { Graph } from '../../ui/graph.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { queriesOf } from '../now/traffic.tsx';
import { locationText } from './texts.ts';

/** Time for which the server stores analytics per minute. There is no graph of an older attack. */
const RETENTION_MS = 7 * 86_400_000;
const MARGIN_MS = 5 * 60_000;
const MINUTE_S = 60;

/**
 * Graph of query rates around an attack: per second if it began at this guard less than ten minutes ago, otherwise
 * means per minute.
 */
export function AttackGraph({ attack }: { readonly attack: Attack }) {
  const beganS = Date.parse(attack.started_on) / 1000;
  const seconds = points.value;
  const isHere = attack.instance === undefined || attack.instance === live.value?.guard?.instance;
  const isRecent = isHere && (seconds[0]?.at ?? Number.POSITIVE_INFINITY) <= beganS;
  if (isRecent) return <RateGraph attack={attack} rows={seconds} step={1} unit="" />;
  return <Minutes attack={attack} />;
}

function Minutes({ attack }: { readonly attack: Attack }) {
  const { id } = attack.rule ?? {};
  const from = Date.parse(attack.started_on) - MARGIN_MS;
  const to = Date.parse(attack.last_seen_on) + MARGIN_MS;
  const isTooOld = Date.now() - from > RETENTION_MS;
  const { value, failure } = useLoaded(
    id !== undefined && !isTooOld && (() => readAnalytics(id, queryOf(attack, from, to))),
    [id, attack.started_on, attack.state, Math.floor(to / 60_000)],
  );
  const isReading = value === undefined && failure === undefined;
  if (isReading && !isTooOld && id !== undefined) return <section class="graph-to-come" aria-busy="true" />;
  const minutes = value?.result.minutes;
  if (id === undefined || minutes === undefined || minutes.length < 2)
    return (
      <p class="quiet">
        No graph: analytics exist for seven days, and only for the rule in force
        {id === undefined && '; no rule was in force'}.
      </p>
    );
  const rows = minutes.map(
    ({ start, passed, paid, would_drop, dropped, truncated, rate_per_second }): Point => ({
      at: Date.parse(start) / 1000,
      rates: {
        passed: (passed + paid) / MINUTE_S,
        wouldDrop: would_drop / MINUTE_S,
        dropped: dropped / MINUTE_S,
        truncated: truncated / MINUTE_S,
        bucket: rate_per_second,
        answered: 0,
        usersLimited: 0,
        unanswered: 0,
      },
      attack: false,
      mode: 0,
    }),
  );
  return (
    <RateGraph
      attack={attack}
      rows={rows}
      step={MINUTE_S}
      unit={`mean of each minute${locationSuffix(attack)}; `}
    />
  );
}

const queryOf = ({ region, datacenter }: Attack, fromMs: number, toMs: number) => ({
  since: new Date(fromMs).toISOString(),
  until: new Date(toMs).toISOString(),
  region,
  datacenter,
});

function locationSuffix(attack: Attack): string {
  const { instance, region, datacenter } = attack;
  if (instance === undefined) return '';
  return region === undefined && datacenter === undefined
    ? ' at all locations'
    : ` at ${locationText(attack)}`;
}

interface DrawnProps {
  readonly attack: Attack;
  readonly rows: readonly Point[];
  readonly step: number;
  readonly unit: string;
}

function RateGraph({ attack, rows, step, unit }: DrawnProps) {
  const began = Date.parse(attack.started_on) / 1000;
  const seen = Date.parse(attack.last_seen_on) / 1000;
  return (
    <section>
      <h2>
        Queries/s <span class="quiet">{unit}shaded: the attack</span>
      </h2>
      <Graph
        label="Queries per second around the attack"
        times={rows.map(({ at }) => at)}
        stepSeconds={step}
        isShaded={rows.map(({ at }) => at + step > began && at <= seen)}
        marks={modeMarks(rows)}
        series={queriesOf(rows)}
      />
    </section>
  );
}
