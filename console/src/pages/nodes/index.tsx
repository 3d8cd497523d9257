import './nodes.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { type Health, type HealthMinute, readHealth, readHealthHistory } from '../../api/operator.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { HistoryGraphs } from './historyGraphs.tsx';
import { Limits } from './limits.tsx';
import { NetworkSection } from './networkSection.tsx';
import { stateOf } from './words.ts';

const LOOK_MS = 2_000;
const HISTORY_MS = 60_000;

/** Do the nodes answer, and is the index where the chain is? */
export function Nodes() {
  const health = useSignal<Health | undefined>(undefined);
  const history = useSignal<readonly HealthMinute[]>([]);
  const failure = useSignal<Failure | undefined>(undefined);
  const looks = useSignal(0);
  useEffect(() => {
    const abort = new AbortController();
    const look = async (): Promise<void> => {
      const answer = await readHealth(abort.signal);
      if (abort.signal.aborted) return;
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if ('value' in answer) health.value = answer.value.result;
    };
    const lookBack = async (): Promise<void> => {
      const answer = await readHealthHistory(abort.signal);
      if ('value' in answer && !abort.signal.aborted) history.value = answer.value.result;
    };
    void look();
    void lookBack();
    const timers = [setInterval(look, LOOK_MS), setInterval(lookBack, HISTORY_MS)];
    return () => {
      abort.abort();
      for (const timer of timers) clearInterval(timer);
    };
  }, [looks.value, health, history, failure]);
  const now = health.value;
  const state = now && stateOf(now);
  return (
    <div class="page nodes">
      <h1>
        {state === undefined ? (
          'Nodes'
        ) : (
          <span class={state.isWell ? 'well' : 'look'}>{state.isWell ? '●' : '▲'} </span>
        )}
        {state?.text}
      </h1>
      {failure.value && <ErrorBox failure={failure.value} />}
      {now?.networks.length === 0 && (
        <EmptyState title="No nodes are configured" lines="floodgate start --upstream http://127.0.0.1:8545">
          The gateway relays to nodes, and indexes what they tell. Point the server at one:
        </EmptyState>
      )}
      {now?.networks.map((network) => (
        <NetworkSection key={network.network} network={network} changed={() => looks.value++} />
      ))}
      {now && <Limits health={now} />}
      {now && <HistoryGraphs minutes={history.value} />}
    </div>
  );
}
