/** Returns a hexadecimal chain id in decimal, as it appears in URL paths. */
export const decimalChainId = (chainId: string | undefined): string | undefined =>
  chainId === undefined ? undefined : BigInt(chainId).toString();
