/** Data plane for several machines: PowerDNS dnsdist serves DNS and applies the rules that Floodgate sends. */

export { BusyNames } from './busyNames.ts';
export { compileRules, type DnsdistState, type ZoneGroup } from './compileRules.ts';
export { dnsdistConfiguration } from './configuration.ts';
export { DnsdistConsole } from './console.ts';
export { DeepestZones } from './deepestZones.ts';
export { dnsdistStateOf } from './detectorState.ts';
export { DnsdistDataPlane, type DnsdistOptions } from './dnsdistDataPlane.ts';
export { readTapFrame } from './dnstap.ts';
export { FrameStream } from './frameStream.ts';
