import type { Command, Option } from 'commander';

/**
 * A script for bash with all words of a command line in it: pressing Tab starts no program. They are the program's own and
 * none is a user's, so none has to be quoted.
 */
export function completionScript(program: Command): string {
  const commands = [...below(program)];
  const known = commands.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const values = commands.flatMap(({ path, command }) =>
    valuesOf(command).map(([flag, allowed]) => `    '${path} ${flag}') words='${allowed.join(' ')}' ;;`),
  );
  const words = commands.map(
    ({ path, command }) => `      '${path}') words='${wordsOf(command).join(' ')}' ;;`,
  );
  return `_floodgate() {
  local path='' word words previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${known.join('|')}) path="$path $word" ;; esac
  done
  case "$path $previous" in
${values.join('\n')}
    *) case "$path" in
${words.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _floodgate floodgate`;
}

interface Placed {
  /** The words that lead to it, each after a space; empty for the program itself. */
  readonly path: string;
  readonly command: Command;
}

function* below(command: Command, path = ''): Generator<Placed> {
  yield { path, command };
  for (const inner of command.commands) yield* below(inner, `${path} ${inner.name()}`);
}

const flagsOf = ({ options }: Command): Option[] => options.filter(({ hidden, long }) => !hidden && long);

const wordsOf = (command: Command): string[] => [
  ...command.commands.map((inner) => inner.name()),
  ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  ...flagsOf(command).map(({ long }) => long ?? ''),
  '--help',
];

/** The flags that take one of a few values, with those. */
const valuesOf = (command: Command): [string, string[]][] =>
  flagsOf(command).flatMap(({ long, argChoices }) => (argChoices ? [[long ?? '', argChoices]] : []));
