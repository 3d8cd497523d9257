import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { labelOf, partiesOf, valueIn } from '../frames/describe.ts';
import { formatGwei, formatQuantity } from '../frames/ether.ts';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, Ether, Fact, formatShare } from '../parts.tsx';
import type { Receipt, Trace } from '../types.ts';
import type { NodeData } from './nodeData.ts';

interface FactsProps {
  readonly data: NodeData;
  readonly root: Trace | undefined;
  readonly network: string;
}

const TYPES: Readonly<Record<number, string>> = {
  0: 'legacy',
  1: 'access list',
  2: 'EIP-1559',
  3: 'blobs',
  4: 'set code (EIP-7702)',
};

/** The members of a transaction and its receipt. */
export function Facts({ data: { transaction, receipt, block, isSettled }, root, network }: FactsProps) {
  const ends = root && partiesOf(root);
  const from = transaction?.from ?? ends?.from;
  const to = transaction?.to ?? receipt?.contractAddress ?? ends?.to;
  const wei = transaction ? BigInt(transaction.value) : root && valueIn(root);
  const price = receipt?.effectiveGasPrice;
  const type = transaction?.type === undefined ? undefined : Number(transaction.type);
  const place = root?.transactionPosition ?? undefined;
  const unknown = isSettled && 'unknown';
  return (
    <dl class="facts receipt">
      <Fact name="From" unknown={unknown}>
        {from && <AddressLink address={from} network={network} copies />}
      </Fact>
      <Fact name={transaction?.to === null ? 'Created' : 'To'} unknown={unknown}>
        {to && <AddressLink address={to} network={network} copies />}
      </Fact>
      <Fact name="Value" unknown={unknown}>
        {wei !== undefined && <Ether wei={wei} />}
      </Fact>
      <Fact name="Fee" unknown={unknown}>
        {receipt && price && <Ether wei={feeOf(receipt)} />}
      </Fact>
      <Fact name="Gas used" unknown={unknown}>
        {receipt && formatShare(receipt.gasUsed, transaction?.gas ?? receipt.gasUsed)}
      </Fact>
      <Fact name="Gas price" unknown={unknown}>
        {price && formatGwei(BigInt(price))}
      </Fact>
      <Fact name="Nonce" unknown={unknown}>
        {transaction && formatQuantity(transaction.nonce)}
      </Fact>
      <Fact name="Type" unknown={unknown}>
        {type !== undefined && [type, TYPES[type]].filter((one) => one !== undefined).join(', ')}
      </Fact>
      <Fact name="Position" unknown={unknown}>
        {place !== undefined && `${place + 1}${block ? ` of ${block.transactions.length}` : ''} in its block`}
      </Fact>
      <Fact name="Method" unknown={unknown}>
        {root && <Method root={root} />}
      </Fact>
    </dl>
  );
}

const SHORT = 24;
const shorten = (text: string): string =>
  text.length > SHORT ? `${text.slice(0, 10)}…${text.slice(-4)}` : text;

/** Shows the called function with its arguments in one line. The details of the first call have all of them. */
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
