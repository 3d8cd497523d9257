import { points, SPAN_SECONDS } from '../../rates.ts';
import { Graph } from '../../ui/graph.tsx';

/** Graph of queries/s by outcome, with the threshold and the rate of the token bucket. */
export function RatesGraph() {
  const shown = points.value;
  return (
    <section>
      <h2>
        Queries/s <span class="quiet">last 10 minutes</span>
      </h2>
      <Graph
        label="Queries per second in the last ten minutes: passed, paid a token, would drop, dropped or truncated; with the threshold and the rate of the bucket"
        spanSeconds={SPAN_SECONDS}
        times={shown.map(({ at }) => at)}
        isShaded={shown.map(({ attack }) => attack)}
        series={[
          { title: 'allowed', colour: 'allowed', form: 'area', values: shown.map(({ allowed }) => allowed) },
          {
            title: 'passed',
            colour: 'passed',
            form: 'area',
            values: shown.map(({ passed, allowed }) => passed - allowed),
          },
          { title: 'paid a token', colour: 'paid', form: 'area', values: shown.map(({ paid }) => paid) },
          {
            title: 'would drop',
            colour: 'would-drop',
            form: 'area',
            values: shown.map(({ wouldDrop }) => wouldDrop),
          },
          {
            title: 'dropped or truncated',
            colour: 'refused',
            form: 'area',
            values: shown.map(({ limited }) => limited),
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
