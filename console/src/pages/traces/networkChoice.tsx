import { gateway } from '../../api/gateway.ts';
import { goTo } from '../../navigate.ts';
import { withNetwork } from './traceUrl.ts';

interface NetworkChoiceProps {
  readonly network: string | undefined;
  /** Path of the current page, which is opened again with the chosen network. */
  readonly path: string;
}

export function NetworkChoice({ network, path }: NetworkChoiceProps) {
  const networks = gateway.value?.networks ?? [];
  if (networks.length < 2) return null;
  return (
    <select
      aria-label="Network"
      value={network}
      onChange={(event) => goTo(withNetwork(path, event.currentTarget.value))}
    >
      {networks.map(({ network: name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
