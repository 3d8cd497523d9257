import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { timeText } from './graph/axisTime.ts';
import { Plot, type PlotData, type Series } from './graph/plot.ts';
import { SaveCsv } from './table/saveCsv.tsx';
import { type Column, Table } from './table/table.tsx';
import { formatNumber } from './value/quantity.tsx';

export type { Series } from './graph/plot.ts';

export interface GraphProps extends PlotData {
  readonly label: string;
  readonly isLow?: boolean;
  /** Called with the period, in seconds since 1970, that the user selected by dragging. */
  readonly onZoom?: (from: number, to: number) => void;
  /** Called with a time that the user clicked. */
  readonly onPick?: (at: number) => void;
}

/** Number of rows of the table. The CSV file contains all of them. */
const TABLE_ROWS = 600;
const PAGE_STEPS = 10;

/** Graph of time series with a crosshair, a table of its values, and a CSV file. Arrow keys move the crosshair. */
export function Graph(props: GraphProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>();
  const latest = useRef(props);
  latest.current = props;
  const crosshair = useSignal<number | undefined>(undefined);
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new Plot(place.current, props, {
      onCrosshair: (index) => (crosshair.value = index),
      onZoom: (from, to) => latest.current.onZoom?.(from, to),
    });
    plot.current = made;
    return () => made.destroy();
    // The plot is created one time. The next effect updates it.
  }, []);
  useEffect(() => plot.current?.show(props));
  const { label, times, series, isLow, onPick } = props;
  const index = crosshair.value;
  const last = Math.max(0, times.length - 1);
  const values = series.map((one) => `${one.title} ${valueText(one, index)}`).join(', ');
  const pick = () => {
    const at = times[index ?? times.length];
    if (at !== undefined) onPick?.(at);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const now = index ?? last;
    const step = event.shiftKey ? PAGE_STEPS : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: now - step,
      ArrowRight: now + step,
      Home: 0,
      End: last,
    };
    const next = moves[event.key];
    if (event.key === 'Enter') pick();
    else if (event.key === 'Escape') plot.current?.setCrosshair(undefined);
    else if (next === undefined) return;
    else plot.current?.setCrosshair(Math.max(0, Math.min(last, next)));
    event.preventDefault();
  };
  return (
    <figure class={isLow ? 'graph low' : 'graph'}>
      {/* A slider, whose value is the time under the crosshair. */}
      <div
        ref={place}
        class="graph-place"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={index ?? last}
        aria-valuetext={index === undefined ? 'latest' : `${timeText(times[index] ?? 0)}: ${values}`}
        onKeyDown={onKeyDown}
        onClick={pick}
      />
      <figcaption>
        <Legend graph={props} crosshair={crosshair} />
      </figcaption>
      {/* Another time range closes the table. */}
      <Data key={String(spanOf(props)[1] - spanOf(props)[0])} graph={props} />
    </figure>
  );
}

const spanOf = ({ span, times }: PlotData): readonly [number, number] =>
  span ?? [times[0] ?? 0, times.at(-1) ?? 0];

const valueText = ({ values }: Series, index = values.length - 1): string => {
  const value = values[index];
  return value === null || value === undefined ? '–' : formatNumber(value);
};

interface LegendProps {
  readonly graph: GraphProps;
  readonly crosshair: Signal<number | undefined>;
}

function Legend({ graph, crosshair }: LegendProps) {
  const { times, series } = graph;
  const index = crosshair.value !== undefined && crosshair.value < times.length ? crosshair.value : undefined;
  const at = times[index ?? times.length - 1];
  return (
    <>
      <span class="legend-time number">{at === undefined ? '–' : timeText(at)}</span>
      {series.map((one) => (
        <span key={one.title} class="legend">
          <span class={`swatch ${one.form}`} style={{ '--swatch': `var(--${one.colour})` }} />{' '}
          <span class="legend-title">{one.title}</span>{' '}
          <span class="legend-value number">{valueText(one, index)}</span>
        </span>
      ))}
    </>
  );
}

interface DataRow {
  readonly at: number;
  readonly values: readonly (number | null)[];
}

function Data({ graph }: { readonly graph: GraphProps }) {
  const table = useSignal<readonly DataRow[] | undefined>(undefined);
  const { label, times, series } = graph;
  const rows = (): DataRow[] =>
    times.map((at, i) => ({ at, values: series.map(({ values }) => values[i] ?? null) })).reverse();
  const columns: Column<DataRow>[] = [
    { title: 'Time', cell: ({ at }) => timeText(at) },
    ...series.map(
      ({ title }, i): Column<DataRow> => ({
        title,
        isNumber: true,
        cell: ({ values }) => (typeof values[i] === 'number' ? formatNumber(values[i]) : '–'),
      }),
    ),
  ];
  return (
    <>
      <div class="graph-actions">
        <button
          type="button"
          class="copy"
          aria-expanded={table.value !== undefined}
          onClick={() => (table.value = table.value === undefined ? rows().slice(0, TABLE_ROWS) : undefined)}
        >
          {table.value === undefined ? 'Show as table' : 'Hide table'}
        </button>
        <SaveCsv
          name={label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}
          rows={() => [
            ['time (UTC)', ...series.map(({ title }) => title)],
            ...rows().map(({ at, values }) => [new Date(at * 1000).toISOString(), ...values]),
          ]}
        />
      </div>
      {table.value && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="graph-table" aria-label={`${label}: table`} tabIndex={0}>
          <Table caption={label} columns={columns} rows={table.value} keyOf={({ at }) => String(at)} />
        </section>
      )}
    </>
  );
}
