import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../output/completionScript.ts';
import { print } from '../output/print.ts';

/** `floodgate completion SHELL`: prints a script that completes commands, options and their values. */
export function registerCompletion(program: Command, whole: () => Promise<Command>): void {
  program
    .command('completion')
    .description('print a completion script for a shell: source <(floodgate completion bash)')
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .action(async (shell: Shell) => print(completionScript(await whole(), shell)));
}
