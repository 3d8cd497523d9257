import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { formatNumber } from './quantity.tsx';

export interface Series {
  readonly title: string;
  /** Name of a CSS variable for a colour in style.css, without the leading dashes. */
  readonly colour: string;
  /** An `area` is stacked on the previous area of the graph; a `line` is not stacked. */
  readonly form: 'area' | 'line';
  /** One value for each of the graph's times; null if a time has no value. */
  readonly values: readonly (number | null)[];
}

export interface GraphProps {
  /** Description of the graph, for screen readers. */
  readonly label: string;
  /** Times of the values, ascending, in seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** For each time, whether its background is highlighted, as during an attack. */
  readonly isShaded?: readonly boolean[];
  /** Length of the time axis in seconds. The axis ends at the last value. Default: it contains all values. */
  readonly spanSeconds?: number;
}

/** Time for which all values must be smaller before the value axis shrinks. It grows at once. */
const SHRINK_AFTER_MS = 60_000;
const MIN_TOP = 10;
/** Padding for half a time label such as `22:10:30`, because a label may be at the end of the axis. */
const TIME_HALF_PX = 24;

/** Graph of time series: stacked areas, with lines in front of them. */
export function Graph(props: GraphProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>();
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new Plot(place.current, props);
    plot.current = made;
    return () => made.destroy();
    // The plot is created one time. The next effect updates it.
  }, []);
  useEffect(() => plot.current?.show(props));
  return (
    <figure class="graph">
      <div ref={place} class="graph-place" role="img" aria-label={props.label} />
      <figcaption>
        {props.series.map(({ title, colour, form }) => (
          <span key={title} class="legend">
            <span class={`swatch ${form}`} style={{ '--swatch': `var(--${colour})` }} /> {title}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

class Plot {
  readonly #place: HTMLElement;
  readonly #plot: UPlot;
  readonly #resized: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  #shown: GraphProps;
  #top = MIN_TOP;
  #neededMs = 0;

  constructor(place: HTMLElement, props: GraphProps) {
    this.#place = place;
    this.#shown = props;
    this.#plot = new UPlot(this.#options(), this.#data(), place);
    this.#resized = new ResizeObserver(() => this.#plot.setSize(this.#size()));
    this.#resized.observe(place);
    this.#scheme.addEventListener('change', this.#redraw);
  }

  show(props: GraphProps): void {
    this.#shown = props;
    this.#plot.setData(this.#data());
  }

  destroy(): void {
    this.#resized.disconnect();
    this.#scheme.removeEventListener('change', this.#redraw);
    this.#plot.destroy();
  }

  readonly #redraw = (): void => this.#plot.redraw();

  #size() {
    return { width: this.#place.clientWidth, height: this.#place.clientHeight };
  }

  #options(): UPlot.Options {
    const quiet = () => this.#colour('quiet');
    const grid = { stroke: () => this.#colour('line'), width: 1 };
    return {
      ...this.#size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [8, TIME_HALF_PX, 0, 0],
      scales: {
        x: { range: () => this.#span() },
        y: { range: (_plot, _least, most) => [0, this.#topFor(most)] },
      },
      axes: [
        {
          stroke: quiet,
          grid: { show: false },
          ticks: { show: false },
          font: FONT,
          size: 28,
          space: 80,
          values: (_plot, splits) => splits.map(clock),
        },
        {
          stroke: quiet,
          grid,
          ticks: { show: false },
          font: FONT,
          size: 56,
          space: 48,
          values: (_plot, splits) => splits.map(shortNumber),
        },
      ],
      series: [{}, ...this.#shown.series.map((series) => this.#line(series))],
      bands: this.#bands(),
      hooks: { drawClear: [(plot) => this.#shade(plot)] },
    };
  }

  #line({ colour, form }: Series): UPlot.Series {
    const stroke = () => this.#colour(colour);
    if (form === 'line')
      return { stroke, width: 1.5, dash: [6, 4], points: { show: false }, spanGaps: false };
    // The outline of an area has width 0: an area of height zero would otherwise appear as a coloured line.
    return { stroke, fill: stroke, width: 0, points: { show: false }, spanGaps: false };
  }

  /** Returns the bands that fill each area down to the upper edge of the area below it. */
  #bands(): UPlot.Band[] {
    const areas = this.#shown.series.flatMap(({ form }, i) => (form === 'area' ? [i + 1] : []));
    return areas.slice(1).map((upper, i) => ({ series: [upper, areas[i] ?? upper] as [number, number] }));
  }

  #data(): UPlot.AlignedData {
    const { times, series } = this.#shown;
    const below = new Float64Array(times.length);
    const rows = series.map(({ form, values }) =>
      form === 'line'
        ? [...values]
        : values.map((value, i) => {
            below[i] = (below[i] ?? 0) + (value ?? 0);
            return below[i] ?? 0;
          }),
    );
    return [[...times], ...rows];
  }

  #span(): [number, number] {
    const { times, spanSeconds } = this.#shown;
    const last = times.at(-1) ?? Math.floor(Date.now() / 1000);
    const first = spanSeconds === undefined ? (times[0] ?? last - 60) : last - spanSeconds;
    return [first, Math.max(last, first + 1)];
  }

  #topFor(most: number | null): number {
    const needed = Math.max(MIN_TOP, roundUpNicely((most ?? 0) * 1.05));
    const nowMs = performance.now();
    if (needed >= this.#top || nowMs - this.#neededMs > SHRINK_AFTER_MS) {
      this.#top = needed;
      this.#neededMs = nowMs;
    }
    return this.#top;
  }

  #shade({ ctx, bbox, valToPos }: UPlot): void {
    const { times, isShaded = [] } = this.#shown;
    ctx.save();
    ctx.fillStyle = this.#colour('harm-ground');
    for (let i = 0; i < times.length; i++) {
      if (isShaded[i] !== true) continue;
      const from = times[i] ?? 0;
      while (isShaded[i + 1] === true) i++;
      const left = Math.max(bbox.left, valToPos(from - 1, 'x', true));
      ctx.fillRect(left, bbox.top, valToPos(times[i] ?? from, 'x', true) - left, bbox.height);
    }
    ctx.restore();
  }

  #colour(name: string): string {
    return getComputedStyle(this.#place).getPropertyValue(`--${name}`) || 'gray';
  }
}

const FONT = '12px system-ui, "DejaVu Sans", sans-serif';
const two = (number: number): string => String(number).padStart(2, '0');
function clock(seconds: number): string {
  const date = new Date(seconds * 1000);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return date.getSeconds() === 0 ? text : `${text}:${two(date.getSeconds())}`;
}

/** Returns the smallest number that is at least `value` and is 1, 2, 3, 4, 5, 6 or 8 times a power of ten. */
function roundUpNicely(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

function shortNumber(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000} M`;
  return value >= 10_000 ? `${value / 1000} k` : formatNumber(value);
}
