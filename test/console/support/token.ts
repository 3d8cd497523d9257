import { createPublicClient, createWalletClient, encodeFunctionData, erc20Abi, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { KEY } from '../../gateway/support/contract.ts';
import { connect } from '../../support/anvil.ts';

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const RETURN_WORD = '5f5260205ff3';

/** Returns bytecode of a token with six decimals that logs each transfer: `transfer`, `symbol`, else `decimals`. */
const tokenCode = (symbol: string): string =>
  [
    '5f3560e01c', // the selector
    '8063a9059cbb14604957', // transfer: jump to 0x49
    '806395d89b4114602157', // symbol: jump to 0x21
    `6006${RETURN_WORD}`,
    `5b7f${Buffer.from(symbol).toString('hex').padEnd(64, '0')}${RETURN_WORD}`,
    `5b6024355f52600435337f${TRANSFER}60205fa3`, // log3(amount, Transfer, caller, to)
    `6001${RETURN_WORD}`,
  ].join('');

/** Deploys a token, and transfers an amount to an address. Returns the token and the hash of the transfer. */
export async function transferToken(
  nodeUrl: string,
  { symbol, to, amount }: { readonly symbol: string; readonly to: Hex; readonly amount: bigint },
): Promise<{ readonly token: Hex; readonly hash: Hex }> {
  const options = { chain: foundry, transport: http(nodeUrl) };
  const wallet = createWalletClient({ account: privateKeyToAccount(KEY), ...options });
  const code = tokenCode(symbol);
  const size = (code.length / 2).toString(16).padStart(2, '0');
  const deployment = await wallet.sendTransaction({ data: `0x60${size}8060095f395ff3${code}` });
  await connect(nodeUrl).call('evm_mine');
  const { contractAddress } = await createPublicClient(options).getTransactionReceipt({ hash: deployment });
  const token = contractAddress ?? '0x';
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  const hash = await wallet.sendTransaction({ to: token, data });
  await connect(nodeUrl).call('evm_mine');
  return { token, hash };
}
