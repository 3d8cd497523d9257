export { EmbeddedDataPlane, type EmbeddedOptions } from './embeddedDataPlane.ts';
export { SOCKETS_PER_THREAD } from './udp/localUdpRelay.ts';
