/** JSON-RPC error code of a reverted call. The message is from the contract, and says nothing about the block. */
const REVERTED = 3;

/** Phrases by which geth, Erigon, Nethermind, Besu and Anvil say that they lack a block. The error codes differ. */
const WORDS =
  /header (for hash )?not found|block (0x[0-9a-f]+ )?not found|could not be found|unknown block|not currently canonical|BlockOutOfRange|block height is \d+ but requested/i;

/** JSON-RPC error code for a missing block, as EIP-1898 recommends. */
const NOT_FOUND = -32_001;

/** Returns true if a node's error means that the node lacks the requested block, because of a reorg or a lag. */
export const isBlockMissingError = ({
  code,
  message,
}: {
  readonly code: number;
  readonly message: string;
}): boolean => code === NOT_FOUND || (code !== REVERTED && WORDS.test(message));
