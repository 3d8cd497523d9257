import type { ComponentChildren } from 'preact';
import { curlOfRpc, type RpcCall, viemOfRpc } from '../../api/rpc.ts';
import { Copy } from '../../ui/copy.tsx';
import { Link } from '../../ui/link.tsx';
import { Address } from '../../ui/value/address.tsx';
import { escapeInvisible } from '../../ui/value/escapeInvisible.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { blockTimes, timeKey } from './blockTimes.ts';
import { formatQuantity, formatWei } from './frames/ether.ts';
import { decoder } from './names/names.ts';
import { linkTo } from './traceUrl.ts';
import type { Trace } from './types.ts';

export function CopyCall({ call }: { readonly call: RpcCall }) {
  return (
    <span class="copies">
      <Copy label="Copy as curl" text={() => curlOfRpc(call)} />
      <Copy label="Copy as viem" text={() => viemOfRpc(call)} />
    </span>
  );
}

interface FactProps {
  readonly name: string;
  /** Shown instead of a missing value. Default: nothing, while the value is loading. */
  readonly unknown?: string | false;
  readonly children?: ComponentChildren;
}

/** A row of a list of facts. It reserves its space. */
export function Fact({ name, unknown = false, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children || <span class="quiet">{unknown}</span>}</dd>
    </div>
  );
}

/** Button that shows more rows of a list that was already loaded. */
export function ShowMore({ left, more }: { readonly left: number; readonly more: () => void }) {
  if (left <= 0) return null;
  return (
    <p class="end">
      <button type="button" onClick={more}>
        Show more ({formatQuantity(left)} left)
      </button>
    </p>
  );
}

/** Formats a number as a share of another: `21,000 of 30,000,000 (0.1 %)`. */
export const formatShare = (part: string, whole: string): string =>
  `${formatQuantity(part)} of ${formatQuantity(whole)} (${((Number(part) / Number(whole)) * 100).toFixed(1)}\u00a0%)`;

interface OfNetwork {
  readonly network: string;
}

/** Link from an address to its traces. The address of the current page (`here`) is not a link. */
export function AddressLink({
  address,
  network,
  here,
  copies = false,
}: OfNetwork & {
  readonly address: string | undefined;
  readonly here?: string;
  readonly copies?: boolean;
}) {
  if (address === undefined) return <span class="quiet">—</span>;
  if (address === here)
    return (
      <span class="here">
        <Account address={address} />
      </span>
    );
  return (
    <>
      <Link to={linkTo({ kind: 'address', id: address }, network)} class="subject">
        <Account address={address} />
      </Link>
      {copies && <Copy text={decoder.value?.checksummed(address) ?? address} />}
    </>
  );
}

/** Shows an address with the case of EIP-55, or the operator's label of it. */
function Account({ address }: { readonly address: string }) {
  const label = decoder.value?.labelOf(address);
  return (
    <Address
      value={decoder.value?.checksummed(address) ?? address}
      label={label && escapeInvisible(label)}
      copies={false}
    />
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
  return <span title={`${formatQuantity(wei)} wei`}>{formatWei(wei)}</span>;
}

/** Links to the frame of a trace in the call tree of its transaction. */
export function FrameLink({ trace, network }: OfNetwork & { readonly trace: Trace }) {
  if (trace.transactionHash === null) return <span class="quiet">—</span>;
  const tree = linkTo({ kind: 'transaction', id: trace.transactionHash }, network);
  const frame =
    trace.traceAddress.length === 0
      ? ''
      : `${tree.includes('?') ? '&' : '?'}frame=${trace.traceAddress.join('.')}`;
  return (
    <Link to={tree + frame} class="subject">
      <Address value={trace.transactionHash} copies={false} />
    </Link>
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
