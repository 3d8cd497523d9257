import type { Schemas } from '../../api/types.ts';
import { Time } from '../../ui/value/time.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';

interface GraphProps {
  readonly name: string;
  readonly values: readonly number[];
  readonly tone: 'passed' | 'refused';
}

export function HistoryGraphs({ minutes }: { readonly minutes: readonly Schemas['HealthMinute'][] }) {
  const first = minutes[0];
  const sum = (of: (network: Schemas['HealthMinute']['networks'][number]) => number) =>
    minutes.map(({ networks }) => networks.reduce((all, network) => all + of(network), 0));
  return (
    <section class="network">
      <h2>
        Last day{' '}
        <span class="quiet">
          {first === undefined ? (
            'graphs start after a minute'
          ) : (
            <>
              since <Time at={first.at} form="clock" />, per minute
            </>
          )}
        </span>
      </h2>
      <div class="graphs">
        <Graph name="Calls" values={sum(({ calls }) => calls)} tone="passed" />
        <Graph name="Errors" values={sum(({ errors }) => errors)} tone="refused" />
        <Graph name="Rejected" values={minutes.map(({ limited }) => limited)} tone="refused" />
        <Graph name="Healthy nodes" values={sum(({ nodes_healthy }) => nodes_healthy)} tone="passed" />
        <Graph name="Blocks indexed" values={sum(({ indexed_blocks }) => indexed_blocks)} tone="passed" />
      </div>
    </section>
  );
}

const HEIGHT = 40;

function Graph({ name, values, tone }: GraphProps) {
  const highest = Math.max(0, ...values);
  const most = Math.max(highest, 1);
  const last = values.at(-1);
  const width = Math.max(values.length, 60);
  const offset = width - values.length;
  const points = values.map((value, i) => `${offset + i},${(HEIGHT - (value / most) * HEIGHT).toFixed(1)}`);
  return (
    <figure>
      <figcaption>
        {name}: <strong>{last === undefined ? '–' : formatQuantity(Math.round(last))}</strong>
        {last !== undefined && <span class="quiet">, peak {formatQuantity(Math.round(highest))}</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        // A graph with only zeros is not coloured as a problem.
        class={`sparkline ${highest === 0 ? 'passed' : tone}`}
      >
        <polyline points={points.join(' ')} />
      </svg>
    </figure>
  );
}
