/** A chain's id as it stands in a path. */
export const decimalChainId = (chainId: string | undefined): string | undefined =>
  chainId === undefined ? undefined : BigInt(chainId).toString();
