import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { readMinuteRates } from '../../api/account.ts';
import { live } from '../../live.ts';
import { goTo } from '../../navigate.ts';
import { modeMarks, type Point, pointsOfMinutes, type Rates } from '../../ratePoints.ts';
import { points } from '../../rates.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { bindingTo, SelectField } from '../../ui/form/fields.tsx';
import { Graph, type Series } from '../../ui/graph.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Samples } from './samples.tsx';
import { RANGES, type TimeRange, timeRangeOf, withTimeRange } from './timeRange.ts';

const MINUTE_S = 60;

export function Traffic({ aside }: { readonly aside: ComponentChildren }) {
  const query = new URLSearchParams(useSearch());
  const [location] = useLocation();
  const picked = useSignal<number | undefined>(undefined);
  const now = Math.floor(Date.parse(live.value?.at ?? '') / 1000) || Math.floor(Date.now() / 1000);
  const range = timeRangeOf(query, now);
  const { shown, reads } = useTraffic(range);
  const select = (wanted: string | readonly [number, number]) =>
    goTo(`${location}?${withTimeRange(query, wanted)}`, { replace: true });
  const shared = {
    times: shown.map(({ at }) => at),
    isShaded: shown.map(({ attack }) => attack),
    marks: modeMarks(shown),
    span: [range.from, range.to] as const,
    stepSeconds: range.hasSeconds ? 1 : MINUTE_S,
    onZoom: (from: number, to: number) => select([from, to]),
    onPick: (at: number) => (picked.value = at),
  };
  return (
    <section>
      <div class="head">
        <h2>
          Traffic{' '}
          <span class="quiet">
            {range.hasSeconds ? 'queries/s' : 'queries/s, mean of each minute'}; shaded: attack
          </span>
        </h2>
        <RangeChoice range={range} select={select} />
      </div>
      {reads.failure && <ErrorBox failure={reads.failure} isOver={reads.value !== undefined} />}
      <div class="traffic">
        <div class="traffic-graphs">
          <h3>Users: queries for known names</h3>
          <Graph
            {...shared}
            isLow
            label="Users: queries for known names per second"
            series={usersOf(shown)}
          />
          <h3>All queries</h3>
          <Graph {...shared} label="All queries per second" series={queriesOf(shown)} />
          <Samples at={picked.value} hasSeconds={range.hasSeconds} />
        </div>
        {aside}
      </div>
    </section>
  );
}

/** Returns the points of a range: seconds from the live stream, or minutes from the server. */
function useTraffic({ from, to, hasSeconds }: TimeRange) {
  const [fromMinute, toMinute] = [Math.floor(from / MINUTE_S), Math.ceil(to / MINUTE_S)];
  const reads = useLoaded(
    !hasSeconds && (() => readMinuteRates(fromMinute * MINUTE_S, toMinute * MINUTE_S)),
    // Without seconds, the range is read again each minute.
    hasSeconds ? [hasSeconds] : [fromMinute, toMinute],
  );
  const minutes = reads.value?.result;
  const read = useMemo(() => minutes && pointsOfMinutes(minutes), [minutes]);
  const shown = hasSeconds ? points.value.filter(({ at }) => at >= from && at <= to) : read;
  return { shown: shown ?? [], reads };
}

interface RangeChoiceProps {
  readonly range: TimeRange;
  readonly select: (range: string) => void;
}

function RangeChoice({ range, select }: RangeChoiceProps) {
  return (
    <div class="actions">
      {range.key === undefined && (
        <button type="button" onClick={() => select(RANGES[0].key)}>
          Back to live
        </button>
      )}
      <SelectField
        label="Time range"
        isLabelHidden
        chosen={bindingTo(range.key ?? '', select)}
        options={[
          ...(range.key === undefined ? [['', 'selected in a graph'] as const] : []),
          ...RANGES.map(({ key, title }) => [key, title] as const),
        ]}
      />
    </div>
  );
}

const seriesOf =
  (shown: readonly Point[]) =>
  (member: keyof Rates, title: string, colour: string): Series => ({
    title,
    colour,
    form: 'area',
    values: shown.map(({ rates }) => rates?.[member] ?? null),
  });

function usersOf(shown: readonly Point[]): Series[] {
  const of = seriesOf(shown);
  return [
    of('answered', 'answered', 'passed'),
    of('usersLimited', 'limited by the guard', 'users-limited'),
    of('unanswered', 'not answered by the servers', 'unanswered'),
  ];
}

/** Returns the series of all queries by outcome. Limited queries of users are a part of these. */
export function queriesOf(shown: readonly Point[]): Series[] {
  const of = seriesOf(shown);
  return [
    of('passed', 'passed', 'passed'),
    { ...of('wouldDrop', 'would drop', 'would-drop'), form: 'hatched' },
    of('truncated', 'truncated', 'truncated'),
    of('dropped', 'dropped', 'dropped'),
    { ...of('bucket', 'rate limit', 'accent'), form: 'line' },
  ];
}
