import { Facts } from '../../../ui/facts.tsx';
import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { labelOf, partiesOf, valueIn } from '../frames/describe.ts';
import { formatGwei, formatQuantity } from '../frames/ether.ts';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, Ether, formatShare } from '../parts.tsx';
import type { Receipt, Trace } from '../types.ts';
import type { NodeData } from './nodeData.ts';

const TYPES: Readonly<Record<number, string>> = {
  0: 'legacy',
  1: 'access list',
  2: 'EIP-1559',
  3: 'blobs',
  4: 'set code (EIP-7702)',
};

interface TransactionFactsProps {
  readonly data: NodeData;
  readonly root: Trace | undefined;
}

export function TransactionFacts({ data, root }: TransactionFactsProps) {
  const { transaction, receipt, block, isSettled } = data;
  const ends = root && partiesOf(root);
  const from = transaction?.from ?? ends?.from;
  const to = transaction?.to ?? receipt?.contractAddress ?? ends?.to;
  const wei = transaction ? BigInt(transaction.value) : root && valueIn(root);
  const price = receipt?.effectiveGasPrice;
  const type = transaction?.type === undefined ? undefined : Number(transaction.type);
  const place = transaction?.transactionIndex ?? root?.transactionPosition ?? undefined;
  return (
    <Facts
      class="receipt"
      unknown={isSettled && 'unknown'}
      rows={[
        ['From', from && <AddressLink address={from} copies />],
        [transaction?.to === null ? 'Created' : 'To', to && <AddressLink address={to} copies />],
        ['Value', wei !== undefined && <Ether wei={wei} />],
        ['Fee', receipt && price && <Ether wei={feeOf(receipt)} />],
        ['Gas used', receipt && formatShare(receipt.gasUsed, transaction?.gas ?? receipt.gasUsed)],
        ['Gas price', price && formatGwei(BigInt(price))],
        ['Nonce', transaction && formatQuantity(transaction.nonce)],
        ['Type', type !== undefined && [type, TYPES[type]].filter((one) => one !== undefined).join(', ')],
        [
          'Position',
          place !== undefined &&
            `${Number(place) + 1}${block ? ` of ${block.transactions.length}` : ''} in its block`,
        ],
        ['Method', root && <Method root={root} />],
      ]}
    />
  );
}

const SHORT = 24;
const shorten = (text: string): string =>
  text.length > SHORT ? `${text.slice(0, 10)}…${text.slice(-4)}` : text;

function Method({ root }: { readonly root: Trace }) {
  const decoded =
    root.type === 'call'
      ? decoder.value?.call(root.action.to, root.action.input).find(({ args }) => args !== undefined)
      : undefined;
  const args = (decoded?.args ?? []).map(
    ({ name, value, parts, left }) =>
      `${name} ${parts.length > 0 ? `(${parts.length + left} values)` : shorten(value)}`,
  );
  return (
    <span class="one-line">
      <NameText name={labelOf(root, decoder.value)} />
      {args.length > 0 && <UntrustedText text={` ${args.join(', ')}`} />}
    </span>
  );
}

/** Returns the fee of a transaction in wei: for gas, for its blobs, and for the layer below a rollup. */
const feeOf = ({ gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee }: Receipt): bigint =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0) +
  BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0) +
  BigInt(l1Fee ?? 0);
