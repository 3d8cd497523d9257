/** The embedded data plane: a UDP and TCP proxy in this process, in front of the authoritative servers. */
export { EmbeddedDataPlane, type EmbeddedOptions } from './embeddedDataPlane.ts';
export { SOCKETS_PER_THREAD } from './localUdpRelay.ts';
