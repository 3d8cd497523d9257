import type { Hex } from 'viem';

/** Private key of the first account that every anvil creates. */
export const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
export const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/**
 * Bytecode of a contract assembled by hand: set(uint256) stores its argument and logs Set(uint256), fail() reverts
 * with Error("no"), and any other call returns the stored value.
 */
export const BYTECODE: Hex = `0x${[
  '607a80600b6000396000f360003560e01c806360fe47b11460245763a9cc471814605657600054600052602060',
  '00f35b600435806000556000527fdf7a95aebff315db1b7716215d602ab537373cdb769232aae6055c06e79842',
  '5b60206000a1005b6308c379a060e01b60005260206004526002602452616e6f60f01b60445260646000fd',
].join('')}`;

export const ABI = [
  {
    type: 'function',
    name: 'set',
    stateMutability: 'nonpayable',
    inputs: [{ name: 'value', type: 'uint256' }],
    outputs: [],
  },
  {
    type: 'function',
    name: 'get',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
  },
  { type: 'function', name: 'fail', stateMutability: 'view', inputs: [], outputs: [] },
  { type: 'event', name: 'Set', inputs: [{ name: 'value', type: 'uint256', indexed: false }] },
] as const;
