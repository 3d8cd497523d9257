import { gatewayFailure, readGateway } from '../api/gateway.ts';
import { ErrorBox } from './errorBox.tsx';

/** Shows why the networks of the gateway could not be read, if so. */
export const GatewayFailure = () =>
  gatewayFailure.value ? <ErrorBox failure={gatewayFailure.value} retry={() => void readGateway()} /> : null;
