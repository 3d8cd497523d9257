/** The code of a reverted call: its words are the contract's. */
const REVERTED = 3;

/** What nodes say of a block that they do not have (geth, erigon, nethermind; besu; anvil), by number or hash, under whatever code. */
const WORDS =
  /header (for hash )?not found|block (0x[0-9a-f]+ )?not found|could not be found|unknown block|not currently canonical|BlockOutOfRange|block height is \d+ but requested/i;

/** What EIP-1898 recommends for a block that a node does not have. */
const NOT_FOUND = -32_001;

/** Whether an error says that the node has not the block that it was asked about: its chain has gone back, or is shorter. */
export const saysBlockIsGone = ({
  code,
  message,
}: {
  readonly code: number;
  readonly message: string;
}): boolean => code === NOT_FOUND || (code !== REVERTED && WORDS.test(message));
