import { useLocation } from 'wouter-preact';
import { API, callJson } from '../api/client.ts';
import { SECRET_OF_SESSION } from '../api/credentials.ts';
import { isGatewayClosed } from '../api/gateway.ts';
import { pathOfNetwork, rpc } from '../api/rpc.ts';
import { account, hasGatewayKey } from '../session.ts';
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
import { GatewayFailure } from '../ui/gatewayFailure.tsx';
import { Link } from '../ui/link.tsx';
import { useLoaded } from '../ui/useLoaded.ts';
import { KeyForm } from './traces/keyForm.tsx';
import { NetworkChoice } from './traces/networkChoice.tsx';
import { useWantedNetwork, withNetwork } from './traces/traceUrl.ts';

export function TryItPage() {
  const network = useWantedNetwork();
  const [, , kind, id] = useLocation()[0].split('/');
  // The server's own document, which has no envelope.
  const rest = useLoaded(() => callJson<OpenApi>({ path: '/openapi.json' }), []);
  const openApi = rest.value?.body;
  const methods = useLoaded(
    () => rpc<OpenRpc>({ network: network ?? '', method: 'rpc.discover', params: [] }),
    [network, hasGatewayKey.value],
    { isHeld: network === undefined || isGatewayClosed.value },
  );
  const openRpc = methods.value;
  const isReading = [rest, methods].every(({ failure }) => failure === undefined);
  const all = [
    ...(openApi ? restOperations(openApi, account.value) : []),
    // They follow the operations of the REST API, which would move them if they arrived later.
    ...(openRpc && (openApi || rest.failure) ? rpcOperations(openRpc) : []),
  ];
  const chosen = all.find((operation) => operation.kind === kind && operation.id === id);
  const key = hasGatewayKey.value ? SECRET_OF_SESSION : undefined;
  const endpointOf = (operation: Operation): Endpoint =>
    operation.kind === 'rest'
      ? { url: API, secret: SECRET_OF_SESSION, variable: 'FLOODGATE_TOKEN', isInSession: true }
      : { url: pathOfNetwork(network ?? ''), secret: key, variable: 'FLOODGATE_KEY', isInSession: true };
  return (
    <div class="page">
      <h1>
        {all.length > 0 ? `${all.length} operations to try` : isReading ? 'Reading the operations …' : 'Try'}
      </h1>
      <KeyForm />
      <GatewayFailure />
      {[rest, methods].map(({ failure, again }, i) =>
        failure ? <ErrorBox key={i} failure={failure} retry={again} /> : null,
      )}
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
