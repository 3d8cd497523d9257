/** Bounds the nesting of parsed text: functions that call themselves for each level would exhaust the stack. */
export { depthOf } from './depthOf.ts';
export { NestingError, parseYaml } from './parseYaml.ts';
