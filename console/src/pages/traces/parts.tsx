import { curlOfRpc, type RpcCall, viemOfRpc } from '../../api/rpc.ts';
import { Copy } from '../../ui/copy.tsx';
import { Link } from '../../ui/link.tsx';
import { Address } from '../../ui/value/address.tsx';
import { escapeInvisible } from '../../ui/value/escapeInvisible.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { blockTimes } from './blockTimes.ts';
import { formatQuantity, formatWei } from './frames/ether.ts';
import { decoder } from './names/names.ts';
import { linkTo, pathOfBlock, useNetwork } from './traceUrl.ts';
import type { Trace } from './types.ts';

type Call = Pick<RpcCall, 'method' | 'params'>;

export function CopyCall({ method, params }: Call) {
  const call = { network: useNetwork(), method, params };
  return (
    <span class="copies">
      <Copy label="Copy as curl" text={() => curlOfRpc(call)} />
      <Copy label="Copy as viem" text={() => viemOfRpc(call)} />
    </span>
  );
}

/** Formats a number as a share of another: `21,000 of 30,000,000 (0.1 %)`. */
export const formatShare = (part: string, whole: string): string =>
  `${formatQuantity(part)} of ${formatQuantity(whole)} (${((Number(part) / Number(whole)) * 100).toFixed(1)}\u00a0%)`;

interface AddressLinkProps {
  readonly address: string | undefined;
  readonly copies?: boolean;
}

export function AddressLink({ address, copies = false }: AddressLinkProps) {
  const network = useNetwork();
  if (address === undefined) return <span class="quiet">—</span>;
  const checksummed = decoder.value?.checksummed(address) ?? address;
  const label = decoder.value?.labelOf(address);
  return (
    <>
      <Link to={linkTo({ kind: 'address', id: address }, network)} class="subject">
        <Address value={checksummed} label={label && escapeInvisible(label)} copies={false} />
      </Link>
      {copies && <Copy text={checksummed} />}
    </>
  );
}

export function BlockLink({ block }: { readonly block: number }) {
  return <Link to={pathOfBlock(block, useNetwork())}>{formatQuantity(block)}</Link>;
}

/** Shows the time of a block. Until the time is read, an empty element reserves the space. */
export function BlockTime({ block }: { readonly block: number }) {
  const at = blockTimes.get(useNetwork(), block);
  return <span class="when">{at ? <Time at={at} form="clock" /> : at === null ? '?' : ''}</span>;
}

export function Ether({ wei }: { readonly wei: bigint }) {
  if (wei === 0n) return <span class="quiet">0</span>;
  return <span title={`${formatQuantity(wei)} wei`}>{formatWei(wei)}</span>;
}

interface TransactionLinkProps {
  readonly hash: string | null;
  /** Frame in the call tree of the transaction. Default: none. */
  readonly frame?: string;
}

export function TransactionLink({ hash, frame = '' }: TransactionLinkProps) {
  const network = useNetwork();
  if (hash === null) return <span class="quiet">—</span>;
  const tree = linkTo({ kind: 'transaction', id: hash }, network);
  return (
    <Link to={frame === '' ? tree : `${tree}${tree.includes('?') ? '&' : '?'}frame=${frame}`} class="subject">
      <Address value={hash} copies={false} />
    </Link>
  );
}

export const FrameLink = ({ trace }: { readonly trace: Trace }) => (
  <TransactionLink hash={trace.transactionHash} frame={trace.traceAddress.join('.')} />
);

/** Shows that a trace failed, with the reason, which is untrusted text of a contract or a node. */
export function Failed({ reason }: { readonly reason: string | undefined }) {
  if (reason === undefined) return null;
  return (
    <span class="harm failed">
      ✕ <UntrustedText text={reason} />
    </span>
  );
}
