import UPlot from 'uplot';
import { formatNumber } from '../value/quantity.tsx';
import { isUtc } from '../value/time.tsx';
import { axisTime } from './axisTime.ts';

export interface Series {
  readonly title: string;
  /** Name of a CSS variable for a colour in style.css, without the leading dashes. */
  readonly colour: string;
  /** An `area` is stacked on the previous area of the graph; a `hatched` one is too. A `line` is not stacked. */
  readonly form: 'area' | 'hatched' | 'line';
  /** One value for each of the graph's times; null if a time has no value. */
  readonly values: readonly (number | null)[];
}

export interface PlotData {
  /** Times of the values, ascending, in seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** For each time, whether its background is highlighted, as during an attack. */
  readonly isShaded?: readonly boolean[];
  /** First and last second of the time axis. Default: it contains all values. */
  readonly span?: readonly [from: number, to: number];
  /** Duration that a value covers. Values of more than one second are drawn as steps. Default: 1. */
  readonly stepSeconds?: number;
  /** Labelled marks on the time axis. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[];
}

export interface PlotEvents {
  /** Called with the index of the time under the crosshair; undefined without a crosshair. */
  readonly onCrosshair: (index: number | undefined) => void;
  readonly onZoom: (from: number, to: number) => void;
}

/** Time for which all values must be smaller before the value axis shrinks. It grows at once. */
const SHRINK_AFTER_MS = 60_000;
const MIN_TOP = 10;
/** Padding for half a time label such as `22:10:30`, because a label may be at the end of the axis. */
const TIME_HALF_PX = 28;
const MIN_DRAG_PX = 8;
const HATCH_PX = 6;
/** Graphs with this key show their crosshairs at the same time. */
const SYNC_KEY = 'time';
const FONT = '12px system-ui, "DejaVu Sans", sans-serif';

/** Draws time series in an element: stacked areas, with lines in front of them. */
export class Plot {
  readonly #place: HTMLElement;
  readonly #plot: UPlot;
  readonly #events: PlotEvents;
  readonly #resized: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #colours = new Map<string, string>();
  #shown: PlotData;
  /** Index of the value under the crosshair if it was not moved with a pointer. */
  #chosen: number | undefined;
  #top = MIN_TOP;
  #neededMs = 0;

  constructor(place: HTMLElement, data: PlotData, events: PlotEvents) {
    this.#place = place;
    this.#shown = data;
    this.#events = events;
    this.#plot = new UPlot(this.#options(), this.#data(), place);
    this.#resized = new ResizeObserver(() => this.#plot.setSize(this.#size()));
    this.#resized.observe(place);
    this.#scheme.addEventListener('change', this.#redraw);
  }

  show(data: PlotData): void {
    this.#shown = data;
    this.#plot.setData(this.#data());
  }

  /** Moves the crosshair to a value, or hides it. */
  setCrosshair(index: number | undefined): void {
    const at = index === undefined ? undefined : this.#shown.times[index];
    const left = at === undefined ? -MIN_DRAG_PX : this.#plot.valToPos(at, 'x');
    this.#chosen = index;
    this.#plot.setCursor({ left, top: at === undefined ? -MIN_DRAG_PX : 0 });
    this.#chosen = undefined;
  }

  destroy(): void {
    this.#resized.disconnect();
    this.#scheme.removeEventListener('change', this.#redraw);
    this.#plot.destroy();
  }

  readonly #redraw = (): void => {
    this.#colours.clear();
    this.#plot.redraw();
  };

  #size() {
    return { width: this.#place.clientWidth, height: this.#place.clientHeight };
  }

  #options(): UPlot.Options {
    const quiet = () => this.#colour('quiet');
    const axis = { stroke: quiet, ticks: { show: false }, font: FONT };
    return {
      ...this.#size(),
      // Ticks are at round times of the shown time zone: local times can be half hours of UTC.
      tzDate: (at) => (isUtc.value ? UPlot.tzDate(new Date(at * 1000), 'UTC') : new Date(at * 1000)),
      legend: { show: false },
      cursor: this.#cursor(),
      padding: [16, TIME_HALF_PX, 0, 0],
      scales: {
        x: { range: () => this.#span() },
        y: { range: (_plot, _least, most) => [0, this.#topFor(most)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: 80,
          values: (_plot, splits) => splits.map((at) => axisTime(at, this.#span())),
        },
        {
          ...axis,
          grid: { stroke: () => this.#colour('line'), width: 1 },
          size: 56,
          space: 48,
          values: (_plot, splits) => splits.map(shortNumber),
        },
      ],
      series: [{}, ...this.#shown.series.map((series) => this.#line(series))],
      bands: this.#bands(),
      hooks: {
        drawClear: [(plot) => this.#shade(plot)],
        draw: [(plot) => this.#mark(plot)],
        setCursor: [({ cursor: { idx } }) => this.#events.onCrosshair(idx ?? undefined)],
        setSelect: [(plot) => this.#select(plot)],
      },
    };
  }

  #cursor(): UPlot.Cursor {
    const isMove = (type: string): boolean => type === 'mousemove' || type === 'mouseleave';
    return {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: MIN_DRAG_PX },
      sync: { key: SYNC_KEY, filters: { pub: isMove, sub: () => true } },
      bind: { dblclick: () => null },
      dataIdx: (...[, , nearest, at]) => this.#chosen ?? this.#indexAt(nearest, at),
    };
  }

  /** A value of more than one second covers the time from its own to the next one. */
  #indexAt(nearest: number, at: number): number {
    const { times, stepSeconds = 1 } = this.#shown;
    const index = stepSeconds > 1 && (times[nearest] ?? 0) > at ? nearest - 1 : nearest;
    return Math.max(0, Math.min(times.length - 1, index));
  }

  #select(plot: UPlot): void {
    const { left, width } = plot.select;
    if (width < MIN_DRAG_PX) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const { stepSeconds = 1 } = this.#shown;
    const from = Math.floor(plot.posToVal(left, 'x'));
    this.#events.onZoom(from, Math.max(from + stepSeconds, Math.ceil(plot.posToVal(left + width, 'x'))));
  }

  #line({ colour, form }: Series): UPlot.Series {
    const stroke = () => this.#colour(colour);
    const shared = { stroke, points: { show: false }, spanGaps: false };
    const stepped = UPlot.paths.stepped?.({ align: 1 });
    const linear = UPlot.paths.linear?.();
    const paths: UPlot.Series.PathBuilder = (...drawn) =>
      ((this.#shown.stepSeconds ?? 1) > 1 ? stepped : linear)?.(...drawn) ?? null;
    if (form === 'line') return { ...shared, paths, width: 1.5, dash: [6, 4] };
    const fill = form === 'hatched' ? (plot: UPlot) => this.#hatching(plot, colour) : stroke;
    // The outline of an area has width 0: an area of height zero would otherwise appear as a coloured line.
    return { ...shared, paths, fill, width: 0 };
  }

  /** Returns the bands that fill each area down to the upper edge of the area below it. */
  #bands(): UPlot.Band[] {
    const areas = this.#shown.series.flatMap(({ form }, i) => (form === 'line' ? [] : [i + 1]));
    return areas.slice(1).map((upper, i) => ({ series: [upper, areas[i] ?? upper] as [number, number] }));
  }

  #data(): UPlot.AlignedData {
    const { times, series, stepSeconds = 1 } = this.#shown;
    const below = new Float64Array(times.length);
    const rows = series.map(({ form, values }) =>
      form === 'line'
        ? [...values]
        : values.map((value, i) => {
            below[i] = (below[i] ?? 0) + (value ?? 0);
            return value === null ? null : (below[i] ?? 0);
          }),
    );
    const last = times.at(-1);
    if (stepSeconds === 1 || last === undefined) return [[...times], ...rows];
    // The last step ends where a further value would begin.
    return [[...times, last + stepSeconds], ...rows.map((row) => [...row, row.at(-1) ?? null])];
  }

  #span(): [number, number] {
    const { times, span, stepSeconds = 1 } = this.#shown;
    const last = (times.at(-1) ?? Math.floor(Date.now() / 1000)) + stepSeconds - 1;
    const [from, to] = span ?? [times[0] ?? last - 60, last];
    return [from, Math.max(to, from + 1)];
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
    const { times, isShaded = [], stepSeconds = 1 } = this.#shown;
    const position = (at: number): number =>
      Math.max(bbox.left, Math.min(bbox.left + bbox.width, valToPos(at, 'x', true)));
    ctx.save();
    ctx.fillStyle = this.#colour('look-ground');
    for (let i = 0; i < times.length; i++) {
      if (isShaded[i] !== true) continue;
      const from = times[i] ?? 0;
      while (isShaded[i + 1] === true) i++;
      const left = position(stepSeconds === 1 ? from - 1 : from);
      const end = stepSeconds === 1 ? (times[i] ?? from) : (times[i] ?? from) + stepSeconds;
      ctx.fillRect(left, bbox.top, position(end) - left, bbox.height);
    }
    ctx.restore();
  }

  #mark({ ctx, bbox, valToPos }: UPlot): void {
    const [from, to] = this.#span();
    ctx.save();
    ctx.scale(devicePixelRatio, devicePixelRatio);
    ctx.font = FONT;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'alphabetic';
    ctx.strokeStyle = this.#colour('text');
    ctx.fillStyle = this.#colour('text');
    ctx.setLineDash([2, 3]);
    const [top, right] = [bbox.top / devicePixelRatio, (bbox.left + bbox.width) / devicePixelRatio];
    // The newest mark is labelled first, because there may be no space for all labels.
    let free = right + TIME_HALF_PX;
    for (const { at, text } of (this.#shown.marks ?? []).toReversed()) {
      if (at < from || at > to) continue;
      const left = Math.round(valToPos(at, 'x', true) / devicePixelRatio) + 0.5;
      ctx.beginPath();
      ctx.moveTo(left, top);
      ctx.lineTo(left, top + bbox.height / devicePixelRatio);
      ctx.stroke();
      const { width } = ctx.measureText(text);
      const start = Math.min(left, right + TIME_HALF_PX - width);
      if (start + width > free) continue;
      ctx.fillText(text, start, top - 4);
      free = start - MIN_DRAG_PX;
    }
    ctx.restore();
  }

  #hatching({ ctx }: UPlot, colour: string): CanvasPattern | string {
    const size = Math.round(HATCH_PX * devicePixelRatio);
    const tile = Object.assign(document.createElement('canvas'), { width: size, height: size });
    const drawn = tile.getContext('2d');
    if (drawn === null) return this.#colour(colour);
    drawn.fillStyle = this.#colour(colour);
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++) if ((x + y) % size < size / 2) drawn.fillRect(x, y, 1, 1);
    return ctx.createPattern(tile, 'repeat') ?? this.#colour(colour);
  }

  /** Returns the computed colour of a CSS variable, which a canvas cannot read itself. */
  #colour(name: string): string {
    const known = this.#colours.get(name);
    if (known !== undefined) return known;
    const probe = this.#place.appendChild(document.createElement('span'));
    probe.style.color = `var(--${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    this.#colours.set(name, color);
    return color;
  }
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
