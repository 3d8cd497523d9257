/** The data plane for more than one machine: PowerDNS dnsdist carries out what the detector decides, with its own selectors. */

export { dnsdistConfiguration } from './configuration.ts';
export { DnsdistConsole } from './console.ts';
export { DnsdistDataPlane, type DnsdistOptions } from './dnsdistDataPlane.ts';
export { readTapFrame } from './dnstap.ts';
export { FrameStream } from './frameStream.ts';
