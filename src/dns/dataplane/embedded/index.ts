export { EmbeddedDataPlane, type EmbeddedOptions } from './embeddedDataPlane.ts';
export { maxDescriptors } from './maxDescriptors.ts';
export { SOCKETS_PER_THREAD } from './udp/localUdpRelay.ts';
