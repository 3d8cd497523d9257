import type { Argument, Decoder } from '../names/decoder.ts';
import type { Log } from '../types.ts';

/** A transfer of tokens, as the log of a contract states it. The contract can log transfers that never happened. */
export interface TokenTransfer {
  readonly key: string;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  /** Id of the token, if the contract has several: ERC-721 and ERC-1155. */
  readonly id: string | undefined;
}

interface Moved {
  readonly id?: Argument | undefined;
  readonly amount?: Argument | undefined;
  /** Position in a batch. */
  readonly at?: number;
}

/** Returns the transfers of ERC-20, ERC-721 and ERC-1155 tokens; of a batch at most the first 50. */
export function transfersOf(logs: readonly Log[], decoder: Decoder): TokenTransfer[] {
  return logs.flatMap((log) => {
    const [decoded] = decoder
      .event(log.address, log.topics, log.data)
      .filter(({ args }) => args !== undefined);
    const args = decoded?.args ?? [];
    const valueAt = (i: number) => args[i]?.value.toLowerCase() ?? '';
    const transfer = (from: number, { id, amount, at = 0 }: Moved) => ({
      key: `${log.logIndex} ${at}`,
      token: log.address.toLowerCase(),
      from: valueAt(from),
      to: valueAt(from + 1),
      amount: amount === undefined ? 1n : BigInt(amount.value),
      id: id?.value,
    });
    switch (decoded?.signature) {
      case 'Transfer(address,address,uint256)':
        // ERC-721 indexes the id of the token, ERC-20 does not index the amount.
        return [transfer(0, log.topics.length === 4 ? { id: args[2] } : { amount: args[2] })];
      case 'TransferSingle(address,address,address,uint256,uint256)':
        return [transfer(1, { id: args[3], amount: args[4] })];
      case 'TransferBatch(address,address,address,uint256[],uint256[])':
        return (args[3]?.parts ?? []).flatMap((id, at) => {
          const amount = args[4]?.parts[at];
          return amount === undefined ? [] : [transfer(1, { id, amount, at })];
        });
      default:
        return [];
    }
  });
}
