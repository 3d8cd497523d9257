import './tryIt.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { API } from '../../api/client.ts';
import { gateway } from '../../api/gateway.ts';
import { gatewayKey, type RpcFailure, rpc } from '../../api/rpc.ts';
import { account } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { KeyForm } from '../traces/keyForm.tsx';
import { NetworkChoice } from '../traces/networkChoice.tsx';
import { onNetwork, useNetwork } from '../traces/place.ts';
import { OperationForm } from './operationForm.tsx';
import { type OpenApi, type OpenRpc, type Operation, restOperations, rpcOperations } from './operations.ts';

/** Every operation of the API and every method of the gateway, with a form made of the server's own documents. */
export function TryIt() {
  const rest = useSignal<readonly Operation[]>([]);
  const methods = useSignal<readonly Operation[]>([]);
  const failure = useSignal<RpcFailure | undefined>(undefined);
  const search = useSignal('');
  const network = useNetwork();
  const [, , kind, id] = useLocation()[0].split('/');
  const of = account.value;
  useEffect(() => {
    void readOpenApi().then((document) => {
      if (document !== undefined) rest.value = restOperations(document, of);
    });
  }, [of, rest]);
  const key = gatewayKey.value;
  const isClosed = gateway.value?.needs_key === true && key === undefined;
  useEffect(() => {
    if (network === undefined || isClosed) return;
    void rpc<OpenRpc>({ network, method: 'rpc.discover', params: [] }).then((answer) => {
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if ('value' in answer) methods.value = rpcOperations(answer.value);
    });
  }, [network, key, isClosed, methods, failure]);
  const all = [...rest.value, ...methods.value];
  const chosen = all.find((operation) => operation.kind === kind && operation.id === id);
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter(({ id: name, summary }) => `${name} ${summary}`.toLowerCase().includes(wanted));
  return (
    <div class="page try">
      <h1>{all.length === 0 ? 'Try' : `${all.length} operations to try`}</h1>
      {gateway.value?.needs_key && <KeyForm />}
      {failure.value && <ErrorBox failure={failure.value} />}
      <div class="try-columns">
        <nav aria-label="Operations" class={chosen ? 'is-chosen' : ''}>
          <input
            data-search
            type="search"
            aria-label="Search an operation"
            placeholder="search an operation"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
            }}
          />
          <NetworkChoice network={network} path={chosen ? pathOf(chosen) : '/try'} />
          <OperationList operations={shown} chosen={chosen} network={network} />
        </nav>
        <section>
          {chosen ? (
            <OperationForm key={`${chosen.kind} ${chosen.id}`} operation={chosen} network={network} />
          ) : (
            <EmptyState title="Choose an operation">
              Its form is made of what the server tells of itself at <code>{API}/openapi.json</code> and by{' '}
              <code>rpc.discover</code>. What you send is real.
            </EmptyState>
          )}
        </section>
      </div>
    </div>
  );
}

const pathOf = ({ kind, id }: Operation): string => `/try/${kind}/${id}`;

/** The document is no envelope; it is open to everyone. */
async function readOpenApi(): Promise<OpenApi | undefined> {
  try {
    return (await (await fetch(`${API}/openapi.json`)).json()) as OpenApi; // the server's own
  } catch {
    return undefined;
  }
}

interface OperationListProps {
  readonly operations: readonly Operation[];
  readonly chosen: Operation | undefined;
  readonly network: string | undefined;
}

function OperationList({ operations, chosen, network }: OperationListProps) {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const name = `${operation.kind === 'rest' ? 'REST' : 'JSON-RPC'} · ${operation.group}`;
    groups.set(name, [...(groups.get(name) ?? []), operation]);
  }
  return (
    <div class="operations">
      {[...groups].map(([group, members]) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {members.map((operation) => (
              <li key={`${operation.method} ${operation.id}`} title={operation.summary}>
                <Link to={onNetwork(pathOf(operation), network)} current={operation === chosen}>
                  {operation.id}
                </Link>
                {operation.method && operation.method !== 'GET' && (
                  <span class="quiet"> {operation.method}</span>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
