/** Small pieces that all views of traces share. */
import { curlOfRpc, type RpcCall, viemOfRpc } from '../../api/rpc.ts';
import { Address } from '../../ui/address.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Link } from '../../ui/link.tsx';
import { Plain } from '../../ui/plain.tsx';
import { Time } from '../../ui/time.tsx';
import { blockTimes, timeKey } from './blockTimes.ts';
import { countText, etherText } from './ether.ts';
import { linkTo } from './place.ts';

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

/** An address that leads to its history; the one that is looked at leads nowhere. */
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
  return <Link to={linkTo({ kind: 'block', id: String(block) }, network)}>{countText(block)}</Link>;
}

/** When a block was made; its place is kept while that is asked. */
export function BlockTime({ block, network }: OfNetwork & { readonly block: number }) {
  const at = blockTimes.value.get(timeKey(network, block));
  return <span class="when">{at ? <Time at={at} form="clock" /> : at === null ? '?' : ''}</span>;
}

export function Ether({ wei }: { readonly wei: bigint }) {
  if (wei === 0n) return <span class="quiet">0</span>;
  return (
    <span title={`${countText(wei)} wei`}>
      {etherText(wei)}
      <span class="unit"> ETH</span>
    </span>
  );
}

/** A failure with its sign and its reason, which a contract or a node wrote. */
export function Failed({ reason }: { readonly reason: string | undefined }) {
  if (reason === undefined) return null;
  return (
    <span class="harm failed">
      ✕ <Plain text={reason} />
    </span>
  );
}
