/** Replay: computes which queries of recorded traffic a rule would limit, before the rule is enabled. */
export { datagramsOf, PcapError } from './pcap.ts';
export { type ReplayResult, replay } from './replay.ts';
