import { createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { KEY } from '../../gateway/support/contract.ts';
import { call } from '../../gateway/support/send.ts';
import { connect } from '../../support/anvil.ts';
import { until } from '../../support/until.ts';

interface Payment {
  readonly to: Hex;
  readonly wei: bigint;
  /** The node that mines the payment, and the gateway that indexes it. */
  readonly nodeUrl: string;
  readonly gatewayUrl: string;
}

/** Sends a payment in a separate block, and waits until that block is indexed. */
export async function pay({ to, wei, nodeUrl, gatewayUrl }: Payment): Promise<Hex> {
  const wallet = createWalletClient({
    account: privateKeyToAccount(KEY),
    chain: foundry,
    transport: http(nodeUrl),
  });
  const hash = await wallet.sendTransaction({ to, value: wei });
  await connect(nodeUrl).call('evm_mine');
  await until('the block of the payment to be indexed', async () => {
    const { json } = await call(gatewayUrl, 'trace_transaction', hash);
    return json.result?.length > 0;
  });
  return hash;
}
