import { bloomOf, isWithin } from './bloom.ts';
import { InvalidResponseError } from './invalidResponseError.ts';

/** Checks that a receipt is of the transaction, and that its logs match its filter. Throws InvalidResponseError. */
export function checkReceipt(receipt: Readonly<Record<string, unknown>>, asked: unknown): void {
  const { transactionHash, blockHash, blockNumber, logs, logsBloom } = receipt;
  if (String(transactionHash).toLowerCase() !== asked)
    throw new InvalidResponseError(
      `requested the receipt of ${asked}, received the receipt of ${transactionHash}`,
    );
  if (!Array.isArray(logs)) throw new InvalidResponseError(`the receipt of ${asked} has no list of logs`);
  const list = logs as ReadonlyArray<Readonly<Record<string, unknown>>>; // a JSON array; its members are not trusted
  for (const log of list)
    if (
      log?.['transactionHash'] !== transactionHash ||
      log['blockHash'] !== blockHash ||
      Number(log['blockNumber']) !== Number(blockNumber)
    )
      throw new InvalidResponseError(
        `a log in the receipt of ${asked} has another transaction, block hash or block number`,
      );
  if (typeof logsBloom !== 'string') return;
  const { bits, isWhole } = bloomOf(list);
  const reported = Buffer.from(logsBloom.slice(2), 'hex');
  if (isWhole ? !bits.equals(reported) : !isWithin(bits, reported))
    throw new InvalidResponseError(`the logs in the receipt of ${asked} do not match its bloom filter`);
}
