/** Data plane for several machines: PowerDNS dnsdist serves DNS and applies the rules that Floodgate sends. */

export { dnsdistConfiguration } from './configuration.ts';
export { DnsdistConsole } from './console.ts';
export { DnsdistDataPlane, type DnsdistOptions } from './dnsdistDataPlane.ts';
export { readTapFrame } from './dnstap.ts';
export { FrameStream } from './frameStream.ts';
