/** The command line, and the options of a command for programs that run a server in their own process. */
export { addConfigFlags, readConfig } from './configFlags.ts';
export { programFor } from './program.ts';
