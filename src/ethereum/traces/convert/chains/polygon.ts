import type { Address } from '../../index.ts';
import { ZERO_ADDRESS } from '../frame.ts';
import type { ChainRules } from './chainRules.ts';
import { GENESIS } from './forks.ts';

/**
 * Polygon PoS and its test network Amoy. The last transaction of a block may be a state sync: it moves messages from
 * Ethereum, and has neither sender nor gas. Nodes that trace it list a root frame from the system address to the state
 * receiver. Bor traces none before the fork Madhugiri. Sources: 0xPolygon/bor#2236, erigontech/erigon#9276.
 */
export const POLYGON: ChainRules = {
  name: 'Polygon',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'optional',
  remarks: [
    'A state-sync transaction has frames if a node traces it. Bor does so since the fork Madhugiri, Erigon always',
  ],
  systemTransaction: {
    matches: ({ from, to, gas }) => from === ZERO_ADDRESS && to === ZERO_ADDRESS && gas === 0n,
    // The casts: 40 lower-case hex digits.
    root: {
      from: '0xfffffffffffffffffffffffffffffffffffffffe' as Address,
      to: '0x0000000000000000000000000000000000001001' as Address,
    },
  },
};
