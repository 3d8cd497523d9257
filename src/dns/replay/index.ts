/** Replay: what a rule would have done with recorded traffic, told before it is enabled. */
export { datagramsOf, PcapError } from './pcap.ts';
export { type ReplayResult, replay } from './replay.ts';
