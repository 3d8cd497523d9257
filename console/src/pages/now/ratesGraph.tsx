import { live } from '../../live.ts';
import { points, SPAN_SECONDS } from '../../rates.ts';
import { Graph } from '../../ui/graph.tsx';

/** Passed, paid and refused on each other, against the threshold and the bucket. */
export function RatesGraph() {
  const shown = points.value;
  const mode = live.value?.guard?.rule?.mode;
  return (
    <section>
      <h2>
        Queries a second <span class="quiet">last 10 minutes</span>
      </h2>
      <Graph
        label="Queries a second in the last ten minutes: passed, paid and refused, with the threshold and the rate of the bucket"
        spanSeconds={SPAN_SECONDS}
        times={shown.map(({ at }) => at)}
        isShaded={shown.map(({ attack }) => attack)}
        series={[
          { title: 'passed', colour: 'passed', form: 'area', values: shown.map(({ passed }) => passed) },
          { title: 'paid a token', colour: 'paid', form: 'area', values: shown.map(({ paid }) => paid) },
          {
            title: mode === 'monitoring' ? 'would be refused' : 'refused',
            colour: 'refused',
            form: 'area',
            values: shown.map(({ refused }) => refused),
          },
          {
            title: 'threshold',
            colour: 'line-strong',
            form: 'line',
            values: shown.map(({ threshold }) => threshold),
          },
          { title: 'bucket', colour: 'accent', form: 'line', values: shown.map(({ bucket }) => bucket) },
        ]}
      />
    </section>
  );
}
