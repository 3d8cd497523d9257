import type { Address } from '../trace.ts';

/**
 * The precompiled contracts of Ethereum, by the fork that brought them. Other chains have more at other places; their
 * calls stay in the traces, as the clients of those chains give them.
 */
const FRONTIER = ['01', '02', '03', '04'];
const BYZANTIUM = ['05', '06', '07', '08'];
const ISTANBUL = ['09'];
const CANCUN = ['0a'];
const PRAGUE = ['0b', '0c', '0d', '0e', '0f', '10', '11'];
const OSAKA = ['0100'];

// The cast: 40 lower-case hex digits by construction.
const address = (low: string) => `0x${low.padStart(40, '0')}` as Address;

/** Every precompiled contract that there has been on any fork of Ethereum. */
export const PRECOMPILES: ReadonlySet<Address> = new Set(
  [FRONTIER, BYZANTIUM, ISTANBUL, CANCUN, PRAGUE, OSAKA].flat().map(address),
);
