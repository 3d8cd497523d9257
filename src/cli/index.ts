/** The options of a command, for programs that start a server as `floodgate start` does, and not as a process. */
export { addConfigFlags, readConfig } from './configFlags.ts';
