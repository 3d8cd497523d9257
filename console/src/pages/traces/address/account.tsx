import type { Outcome } from '../../../api/failure.ts';
import { rpcBatch } from '../../../api/rpc.ts';
import { Facts } from '../../../ui/facts.tsx';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { formatQuantity } from '../frames/ether.ts';
import { AddressLink, Ether } from '../parts.tsx';
import { useNetwork } from '../traceUrl.ts';

const METHODS = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'] as const;
/** Code of an account that delegates to a contract (EIP-7702): this prefix and an address. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

interface AccountStateProps {
  readonly address: string;
  /** Number of new heads: the state is read again at each of them. */
  readonly heads: number;
}

export function AccountState({ address, heads }: AccountStateProps) {
  const network = useNetwork();
  const { value } = useLoaded(async () => {
    const calls = METHODS.map((method) => ({ method, params: [address, 'latest'] }));
    return { value: await rpcBatch<string>(network, calls) };
  }, [address, network, heads]);
  const outcomes: readonly Outcome<string>[] = value ?? [];
  const [balance, nonce, code] = outcomes.map((one) => ('value' in one ? one.value : undefined));
  const failed = outcomes.find((one) => 'failure' in one);
  return (
    <Facts
      class="receipt"
      unknown={failed !== undefined && 'failure' in failed && `unknown: ${failed.failure.what}`}
      rows={[
        ['Balance', balance && <Ether wei={BigInt(balance)} />],
        ['Nonce', nonce && formatQuantity(nonce)],
        ['Code', code && <Code bytes={code} />],
      ]}
    />
  );
}

function Code({ bytes }: { readonly bytes: string }) {
  const [, delegate] = DELEGATION.exec(bytes) ?? [];
  if (delegate === undefined)
    return bytes === '0x' ? 'none' : `${formatQuantity((bytes.length - 2) / 2)} bytes`;
  return (
    <>
      delegates to <AddressLink address={`0x${delegate}`} />
    </>
  );
}
