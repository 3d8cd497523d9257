import { gatewayFailure, readGateway } from '../api/gateway.ts';
import { ErrorBox } from './errorBox.tsx';

export const GatewayFailure = () =>
  gatewayFailure.value ? <ErrorBox failure={gatewayFailure.value} retry={() => void readGateway()} /> : null;
