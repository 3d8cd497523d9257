/** The code of a reverted call: its words are the contract's. */
const REVERTED = 3;

/** What nodes say of a block that they do not have (geth, erigon, nethermind; besu; anvil), under whatever code. */
const WORDS =
  /header not found|block not found|unknown block|BlockOutOfRange|block height is \d+ but requested/i;

/** Whether an error says that the node has not the block that it was asked about: its chain has gone back, or is shorter. */
export const saysBlockIsGone = ({
  code,
  message,
}: {
  readonly code: number;
  readonly message: string;
}): boolean => code !== REVERTED && WORDS.test(message);
