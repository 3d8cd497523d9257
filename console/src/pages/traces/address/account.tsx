import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type RpcOutcome, rpcBatch } from '../../../api/rpc.ts';
import { subscribe } from '../../../api/subscription.ts';
import { formatQuantity } from '../frames/ether.ts';
import { AddressLink, Ether, Fact } from '../parts.tsx';

const METHODS = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'] as const;
/** Code of an account that delegates to a contract (EIP-7702): this prefix and an address. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

interface AccountStateProps {
  readonly address: string;
  readonly network: string;
}

/** Shows balance, nonce and code of an account at the latest block. They are read again at each new block. */
export function AccountState({ address, network }: AccountStateProps) {
  const state = useSignal<readonly RpcOutcome<string>[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      const calls = METHODS.map((method) => ({ method, params: [address, 'latest'] }));
      const answer = await rpcBatch<string>(network, calls, abort.signal);
      if (!abort.signal.aborted) state.value = answer;
    };
    void read();
    const end = subscribe(network, ['newHeads'], { pushed: () => void read(), state: () => undefined });
    return () => {
      abort.abort();
      end();
    };
  }, [address, network]);
  const [balance, nonce, code] = state.value.map((one) => ('value' in one ? one.value : undefined));
  const failed = state.value.find((one) => 'failure' in one);
  const unknown = failed !== undefined && 'failure' in failed && `unknown: ${failed.failure.what}`;
  return (
    <dl class="facts receipt">
      <Fact name="Balance" unknown={unknown}>
        {balance && <Ether wei={BigInt(balance)} />}
      </Fact>
      <Fact name="Nonce" unknown={unknown}>
        {nonce && formatQuantity(nonce)}
      </Fact>
      <Fact name="Code" unknown={unknown}>
        {code && <Code bytes={code} network={network} />}
      </Fact>
    </dl>
  );
}

function Code({ bytes, network }: { readonly bytes: string; readonly network: string }) {
  const [, delegate] = DELEGATION.exec(bytes) ?? [];
  if (delegate !== undefined)
    return (
      <>
        delegates to <AddressLink address={`0x${delegate}`} network={network} />
      </>
    );
  return bytes === '0x' ? 'none' : `${formatQuantity((bytes.length - 2) / 2)} bytes`;
}
