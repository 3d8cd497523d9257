import type { Answer } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { type Analytics, readAnalytics } from '../../api/rules.ts';
import type { Attack } from '../../api/types.ts';
import { live } from '../../live.ts';
import { points } from '../../rates.ts';
import { Graph, type Series } from '../../ui/graph.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { placeText } from './words.ts';

/** Minutes are kept so long; of what is older there is no graph. */
const KEPT_MS = 7 * 86_400_000;
const MARGIN_MS = 5 * 60_000;
const MINUTE_S = 60;

interface Row {
  readonly at: number;
  readonly passed: number;
  readonly paid: number;
  readonly refused: number;
  readonly bucket: number | null;
}

/** Second by second where it began here in the last ten minutes, otherwise minute by minute, under the rule that was in force. */
export function AttackGraph({ attack }: { readonly attack: Attack }) {
  const beganS = Date.parse(attack.started_on) / 1000;
  const seconds = points.value;
  const isHere = attack.instance === undefined || attack.instance === live.value?.guard?.instance;
  const isRecent = isHere && (seconds[0]?.at ?? Number.POSITIVE_INFINITY) <= beganS;
  if (isRecent) return <Drawn attack={attack} rows={seconds} unit="each second" />;
  return <Minutes attack={attack} />;
}

function Minutes({ attack }: { readonly attack: Attack }) {
  const { id } = attack.rule ?? {};
  const from = Date.parse(attack.started_on) - MARGIN_MS;
  const to = Date.parse(attack.last_seen_on) + MARGIN_MS;
  const { loaded } = useLoaded(
    async (): Promise<Outcome<Answer<Analytics> | undefined>> =>
      id === undefined || Date.now() - from > KEPT_MS
        ? { value: undefined }
        : readAnalytics(id, queryOf(attack, from, to)),
    [id, attack.started_on, attack.state, Math.floor(to / 60_000)],
  );
  const minutes = loaded.value.value?.result.minutes;
  if (id === undefined || minutes === undefined || minutes.length < 2)
    return (
      <p class="quiet">
        No graph: the minutes of an attack are kept for seven days, and counted for the rule that was in force
        {id === undefined && ', which there was not'}.
      </p>
    );
  const rows = minutes.map(
    ({ start, passed, paid, would_drop, dropped, truncated, rate_per_second }): Row => ({
      at: Date.parse(start) / 1000,
      passed: passed / MINUTE_S,
      paid: paid / MINUTE_S,
      refused: (would_drop + dropped + truncated) / MINUTE_S,
      bucket: rate_per_second,
    }),
  );
  return <Drawn attack={attack} rows={rows} unit={`mean of each minute${whereOf(attack)}`} />;
}

/** The minutes of the guards that stand where it was seen. */
function queryOf({ region, datacenter }: Attack, fromMs: number, toMs: number): Record<string, string> {
  const query: Record<string, string> = {
    since: new Date(fromMs).toISOString(),
    until: new Date(toMs).toISOString(),
  };
  if (region !== undefined) query['region'] = region;
  if (datacenter !== undefined) query['datacenter'] = datacenter;
  return query;
}

function whereOf(attack: Attack): string {
  const { instance, region, datacenter } = attack;
  if (instance === undefined) return '';
  return region === undefined && datacenter === undefined
    ? ' at all places together'
    : ` at ${placeText(attack)}`;
}

interface DrawnProps {
  readonly attack: Attack;
  readonly rows: readonly Row[];
  readonly unit: string;
}

function Drawn({ attack, rows, unit }: DrawnProps) {
  const began = Date.parse(attack.started_on) / 1000;
  const seen = Date.parse(attack.last_seen_on) / 1000;
  const of = (
    member: 'passed' | 'paid' | 'refused' | 'bucket',
    title: string,
    form: Series['form'],
  ): Series => ({
    ...{ title, form },
    colour: member === 'bucket' ? 'accent' : member,
    values: rows.map((row) => row[member]),
  });
  return (
    <section>
      <h2>
        Queries a second <span class="quiet">{unit}; shaded: the attack</span>
      </h2>
      <Graph
        label="Queries a second around the attack: passed, paid and refused, with the rate of the bucket"
        times={rows.map(({ at }) => at)}
        isShaded={rows.map(({ at }) => at >= Math.floor(began) && at <= seen)}
        series={[
          of('passed', 'passed', 'area'),
          of('paid', 'paid a token', 'area'),
          of('refused', attack.rule?.mode === 'enabled' ? 'refused' : 'would be refused', 'area'),
          of('bucket', 'bucket', 'line'),
        ]}
      />
    </section>
  );
}
