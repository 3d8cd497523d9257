import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../completionScript.ts';
import { print } from '../print.ts';

/** `floodgate completion SHELL`: a script that completes commands, options and their values. */
export function registerCompletion(program: Command, whole: () => Promise<Command>): void {
  program
    .command('completion')
    .description(
      'print a script that makes the shell complete what you type: source <(floodgate completion bash)',
    )
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .action(async (shell: Shell) => print(completionScript(await whole(), shell)));
}
