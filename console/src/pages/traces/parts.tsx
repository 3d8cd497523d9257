import { curlOfRpc, type RpcCall, viemOfRpc } from '../../api/rpc.ts';
import { Address } from '../../ui/address.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Link } from '../../ui/link.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { blockTimes, timeKey } from './blockTimes.ts';
import { formatEther, formatQuantity } from './frames/ether.ts';
import { linkTo } from './traceUrl.ts';

export function CopyCall({ call }: { readonly call: RpcCall }) {
  return (
    <span class="copies">
      <Copy label="Copy as curl" text={() => curlOfRpc(call)} />
      <Copy label="Copy as viem" text={() => viemOfRpc(call)} />
    </span>
  );
}

interface OfNetwork {
  readonly network: string;
}

/** Link from an address to its traces. The address of the current page (`here`) is not a link. */
export function AddressLink({
  address,
  network,
  here,
}: OfNetwork & { readonly address: string | undefined; readonly here?: string }) {
  if (address === undefined) return <span class="quiet">—</span>;
  if (address === here)
    return (
      <span class="here">
        <Address value={address} copies={false} />
      </span>
    );
  return (
    <Link to={linkTo({ kind: 'address', id: address }, network)} class="subject">
      <Address value={address} copies={false} />
    </Link>
  );
}

export function BlockLink({ block, network }: OfNetwork & { readonly block: number }) {
  return <Link to={linkTo({ kind: 'block', id: String(block) }, network)}>{formatQuantity(block)}</Link>;
}

/** Shows the time of a block. Until the time is read, an empty element reserves the space. */
export function BlockTime({ block, network }: OfNetwork & { readonly block: number }) {
  const at = blockTimes.value.get(timeKey(network, block));
  return <span class="when">{at ? <Time at={at} form="clock" /> : at === null ? '?' : ''}</span>;
}

export function Ether({ wei }: { readonly wei: bigint }) {
  if (wei === 0n) return <span class="quiet">0</span>;
  return (
    <span title={`${formatQuantity(wei)} wei`}>
      {formatEther(wei)}
      <span class="unit"> ETH</span>
    </span>
  );
}

/** Shows that a trace failed, with the reason, which is untrusted text of a contract or a node. */
export function Failed({ reason }: { readonly reason: string | undefined }) {
  if (reason === undefined) return null;
  return (
    <span class="harm failed">
      ✕ <UntrustedText text={reason} />
    </span>
  );
}
