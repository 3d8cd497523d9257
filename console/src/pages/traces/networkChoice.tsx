import { gateway } from '../../api/gateway.ts';
import { goTo } from '../../navigate.ts';
import { onNetwork } from './place.ts';

interface NetworkChoiceProps {
  readonly network: string | undefined;
  /** What is looked at, on whichever network. */
  readonly path: string;
}

/** Where the gateway serves several networks: the one that is looked at, to look at another. */
export function NetworkChoice({ network, path }: NetworkChoiceProps) {
  const networks = gateway.value?.networks ?? [];
  if (networks.length < 2) return null;
  return (
    <select
      aria-label="Network"
      value={network}
      onChange={(event) => goTo(onNetwork(path, event.currentTarget.value))}
    >
      {networks.map(({ network: name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
