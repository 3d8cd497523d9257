import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { API } from '../api/client.ts';
import { SECRET_OF_SESSION } from '../api/credentials.ts';
import { gateway } from '../api/gateway.ts';
import { gatewayKey, pathOfNetwork, type RpcFailure, rpc } from '../api/rpc.ts';
import { account } from '../session.ts';
import {
  type OpenApi,
  type OpenRpc,
  type Operation,
  restOperations,
  rpcOperations,
} from '../tryIt/operations.ts';
import type { Endpoint } from '../tryIt/request.ts';
import { TryIt } from '../tryIt/tryIt.tsx';
import { ErrorBox } from '../ui/errorBox.tsx';
import { Link } from '../ui/link.tsx';
import { KeyForm } from './traces/keyForm.tsx';
import { NetworkChoice } from './traces/networkChoice.tsx';
import { useNetwork, withNetwork } from './traces/traceUrl.ts';

/** Page with forms for operations of the rules API and methods of the gateway, sent with the session. */
export function TryItPage() {
  const openApi = useSignal<OpenApi | undefined>(undefined);
  const openRpc = useSignal<OpenRpc | undefined>(undefined);
  const failure = useSignal<RpcFailure | undefined>(undefined);
  const network = useNetwork();
  const [, , kind, id] = useLocation()[0].split('/');
  useEffect(() => {
    void readOpenApi().then((document) => {
      openApi.value = document;
    });
  }, [openApi]);
  const key = gatewayKey.value;
  const isClosed = gateway.value?.needs_key === true && key === undefined;
  useEffect(() => {
    if (network === undefined || isClosed) return;
    void rpc<OpenRpc>({ network, method: 'rpc.discover', params: [] }).then((answer) => {
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if ('value' in answer) openRpc.value = answer.value;
    });
  }, [network, key, isClosed, openRpc, failure]);
  const all = [
    ...(openApi.value ? restOperations(openApi.value, account.value) : []),
    ...(openRpc.value ? rpcOperations(openRpc.value) : []),
  ];
  const chosen = all.find((operation) => operation.kind === kind && operation.id === id);
  const endpointOf = (operation: Operation): Endpoint =>
    operation.kind === 'rest'
      ? { url: API, secret: SECRET_OF_SESSION, variable: 'FLOODGATE_TOKEN', isInSession: true }
      : { url: pathOfNetwork(network ?? ''), secret: key, variable: 'FLOODGATE_KEY', isInSession: true };
  return (
    <div class="page">
      <h1>{all.length === 0 ? 'Try' : `${all.length} operations to try`}</h1>
      {gateway.value?.needs_key && <KeyForm />}
      {failure.value && <ErrorBox failure={failure.value} />}
      <TryIt
        operations={all}
        chosen={chosen}
        endpointOf={endpointOf}
        linkTo={(operation) => (
          <Link to={withNetwork(pathOf(operation), network)} current={operation === chosen}>
            {operation.id}
          </Link>
        )}
      >
        <NetworkChoice network={network} path={chosen ? pathOf(chosen) : '/try'} />
      </TryIt>
    </div>
  );
}

const pathOf = ({ kind, id }: Operation): string => `/try/${kind}/${id}`;

/** Reads the OpenAPI document. It requires no token, and is sent without an envelope. */
async function readOpenApi(): Promise<OpenApi | undefined> {
  try {
    return (await (await fetch(`${API}/openapi.json`)).json()) as OpenApi; // the server's own document
  } catch {
    return undefined;
  }
}
