import './nodes.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { type Health, type HealthMinute, readHealth, readHealthHistory } from '../../api/operator.ts';
import { CONTACT_MS, watchContact } from '../../contact.ts';
import { unknownSince } from '../../live.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Reading } from '../../ui/value/reading.tsx';
import { UnknownSince } from '../../ui/value/unknownSince.tsx';
import { HistoryGraphs } from './historyGraphs.tsx';
import { Limits } from './limits.tsx';
import { NetworkSection } from './networkSection.tsx';
import { nodesHeadline } from './texts.ts';

const POLL_MS = 2_000;
const HISTORY_MS = 60_000;

export function Nodes() {
  const health = useSignal<Health | undefined>(undefined);
  const history = useSignal<readonly HealthMinute[]>([]);
  const failure = useSignal<Failure | undefined>(undefined);
  const looks = useSignal(0);
  const silentSince = useSignal<Date | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    const contact = watchContact(POLL_MS + CONTACT_MS);
    const unfollow = contact.lostSince.subscribe((since) => {
      silentSince.value = since;
    });
    const look = async (): Promise<void> => {
      const answer = await readHealth(abort.signal);
      if (abort.signal.aborted) return;
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if (!('value' in answer)) return;
      health.value = answer.value.result;
      contact.note(true);
    };
    const lookBack = async (): Promise<void> => {
      const answer = await readHealthHistory(abort.signal);
      if ('value' in answer && !abort.signal.aborted) history.value = answer.value.result;
    };
    void look();
    void lookBack();
    const timers = [setInterval(look, POLL_MS), setInterval(lookBack, HISTORY_MS)];
    return () => {
      abort.abort();
      unfollow();
      contact.stop();
      for (const timer of timers) clearInterval(timer);
    };
  }, [looks.value, health, history, failure, silentSince]);
  const now = health.value;
  const state = now && nodesHeadline(now);
  const since = unknownSince.value ?? silentSince.value;
  return (
    <div class={`page nodes ${since ? 'no-contact' : ''}`}>
      {since ? (
        <UnknownSince since={since} />
      ) : (
        <h1>
          {state === undefined ? (
            'Nodes'
          ) : (
            <span class={state.isWell ? 'well' : 'look'}>{state.isWell ? '●' : '▲'} </span>
          )}
          {state?.text}
        </h1>
      )}
      {failure.value && (
        <ErrorBox failure={failure.value} retry={() => looks.value++} isOver={now !== undefined} />
      )}
      {now === undefined && !failure.value && <Reading what="the state of the nodes" />}
      {now?.networks.length === 0 && (
        <EmptyState title="No nodes are configured" lines="floodgate start --upstream http://127.0.0.1:8545">
          The gateway relays calls to nodes, and indexes their traces. Configure a node:
        </EmptyState>
      )}
      {now?.networks.map((network) => (
        <NetworkSection key={network.network} network={network} changed={() => looks.value++} />
      ))}
      {now && <HistoryGraphs minutes={history.value} />}
      {now && <Limits health={now} />}
    </div>
  );
}
