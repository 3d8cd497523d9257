import type { HealthMinute } from '../../api/operator.ts';
import { Time } from '../../ui/time.tsx';
import { countText } from '../traces/ether.ts';

interface GraphProps {
  readonly name: string;
  readonly values: readonly number[];
  readonly tone: 'passed' | 'refused';
}

/** The last day, a minute a point. */
export function HistoryGraphs({ minutes }: { readonly minutes: readonly HealthMinute[] }) {
  const first = minutes[0];
  if (first === undefined)
    return (
      <section class="network">
        <h2>Last day</h2>
        <p class="quiet graphs-to-come">The first minute is not over yet.</p>
      </section>
    );
  const sum = (of: (network: HealthMinute['networks'][number]) => number) =>
    minutes.map(({ networks }) => networks.reduce((all, network) => all + of(network), 0));
  return (
    <section class="network">
      <h2>
        Last day{' '}
        <span class="quiet">
          since <Time at={first.at} form="clock" />, per minute
        </span>
      </h2>
      <div class="graphs">
        <Graph name="calls" values={sum(({ calls }) => calls)} tone="passed" />
        <Graph name="answered with an error" values={sum(({ errors }) => errors)} tone="refused" />
        <Graph name="refused by a limit" values={minutes.map(({ limited }) => limited)} tone="refused" />
        <Graph name="nodes that answer" values={sum(({ nodes_healthy }) => nodes_healthy)} tone="passed" />
        <Graph name="blocks indexed" values={sum(({ indexed_blocks }) => indexed_blocks)} tone="passed" />
      </div>
    </section>
  );
}

const HEIGHT = 40;

function Graph({ name, values, tone }: GraphProps) {
  const highest = Math.max(...values);
  const most = Math.max(highest, 1);
  const last = values.at(-1) ?? 0;
  const width = Math.max(values.length, 60);
  const offset = width - values.length;
  const points = values.map((value, i) => `${offset + i},${(HEIGHT - (value / most) * HEIGHT).toFixed(1)}`);
  return (
    <figure>
      <figcaption>
        {name}: <strong>{countText(Math.round(last))}</strong>
        <span class="quiet">, at most {countText(Math.round(highest))}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        // What did not happen is as usual.
        class={`sparkline ${highest === 0 ? 'passed' : tone}`}
      >
        <polyline points={points.join(' ')} />
      </svg>
    </figure>
  );
}
