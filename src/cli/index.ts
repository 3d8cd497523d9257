/**
 * The command line, for programs that look at it, and the options of a command, for those that start a server as `floodgate start`
 * does, and not as a process.
 */
export { addConfigFlags, readConfig } from './configFlags.ts';
export { programFor } from './program.ts';
