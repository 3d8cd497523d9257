import {
  filters,
  oldBlocks,
  pipelining,
  rejectedCalls,
  relayedCalls,
  rulesFlood,
  tokenFlood,
} from './calls.ts';
import { compressedBodies } from './compressedBodies.ts';
import { dnsFlood, dnsTcp } from './dns.ts';
import { handshakes } from './handshakes.ts';
import { heavyBatches } from './heavyBatches.ts';
import { idleConnections } from './idleConnections.ts';
import { slowBodies } from './slowBodies.ts';
import { slowReaders } from './slowReaders.ts';
import { subscriptions } from './subscriptions.ts';
import { webSocketFlood } from './webSocketFlood.ts';

/** The greedy clients by name. */
export const GREEDY = {
  compressedBodies,
  dnsFlood,
  dnsTcp,
  filters,
  handshakes,
  heavyBatches,
  idleConnections,
  oldBlocks,
  pipelining,
  rejectedCalls,
  relayedCalls,
  rulesFlood,
  slowBodies,
  slowReaders,
  subscriptions,
  tokenFlood,
  webSocketFlood,
};

export type GreedyKind = keyof typeof GREEDY;
