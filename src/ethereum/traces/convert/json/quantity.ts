import type { Quantity } from '../../index.ts';

export const quantity = (value: bigint) => `0x${value.toString(16)}` as Quantity; // BigInt prints no leading zeros
