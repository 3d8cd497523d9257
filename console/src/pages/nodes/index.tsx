import './nodes.css';
import { useEffect, useMemo } from 'preact/hooks';
import { readHealth, readHealthHistory } from '../../api/server.ts';
import { CONTACT_MS, watchContact } from '../../contact.ts';
import { unknownSince } from '../../live.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UnknownSince } from '../../ui/value/unknownSince.tsx';
import { HistoryGraphs } from './historyGraphs.tsx';
import { Limits } from './limits.tsx';
import { NetworkSection } from './networkSection.tsx';
import { nodesHeadline } from './texts.ts';

const POLL_MS = 2_000;
const HISTORY_MS = 60_000;

export function Nodes() {
  const reads = useLoaded(readHealth, [], { everyMs: POLL_MS });
  const history = useLoaded(readHealthHistory, [], { everyMs: HISTORY_MS });
  const { value } = reads;
  const contact = useMemo(() => watchContact(POLL_MS + CONTACT_MS), []);
  useEffect(() => contact.stop, []);
  useEffect(() => {
    if (value !== undefined) contact.note(true);
  }, [value]);
  const now = value?.result;
  const state = now && nodesHeadline(now);
  const since = unknownSince.value ?? contact.lostSince.value;
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
      <LoadState of={reads} what="the state of the nodes" />
      {now?.networks.length === 0 && (
        <EmptyState title="No nodes are configured" lines="floodgate start --upstream http://127.0.0.1:8545">
          The gateway relays calls to nodes, and indexes their traces. Configure a node:
        </EmptyState>
      )}
      {now?.networks.map((network) => (
        <NetworkSection key={network.network} network={network} changed={reads.again} />
      ))}
      {now && <HistoryGraphs minutes={history.value?.result ?? []} />}
      {now && <Limits health={now} />}
    </div>
  );
}
