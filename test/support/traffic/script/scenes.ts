/**
 * The script of the development chain's first blocks: every shape that a trace can have, each named. Each inner list
 * is a block. After the script the traffic is random.
 */
import type { Transaction } from '../transaction.ts';
import { calls } from './calls.ts';
import { creations } from './creations.ts';
import { deployments } from './deployments.ts';
import { destructions } from './destructions.ts';
import { failures } from './failures.ts';
import { precompiles } from './precompiles.ts';
import { refunds } from './refunds.ts';
import { transfers } from './transfers.ts';

export const SCRIPT: readonly (readonly Transaction[])[] = [
  deployments,
  transfers,
  calls,
  creations,
  failures,
  destructions,
  precompiles,
  refunds,
];
