/** Replay: calculates the effect of a rule on recorded traffic before the rule is enabled. */
export { datagramsOf, PcapError } from './pcap.ts';
export { type ReplayResult, replay } from './replay.ts';
