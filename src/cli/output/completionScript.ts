import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A case branch of the shell script: the words to offer at one position. */
interface Case {
  /** Words of a command, each preceded by a space, and possibly a flag that has a fixed set of values. */
  readonly typed: string;
  readonly words: readonly string[];
}

/**
 * Returns a script that contains all words, so that Tab starts no program. The words come from the program and never
 * from a user, so they need no quoting.
 */
export function completionScript(program: Command, shell: Shell): string {
  const commands = [...below(program)];
  const words = commands.map(({ path, command }) => ({ typed: path, words: wordsOf(command) }));
  const values = commands.flatMap(({ path, command }) =>
    valuesOf(command).map(([flag, allowed]) => ({ typed: `${path} ${flag}`, words: allowed })),
  );
  if (shell === 'fish') {
    const takingFiles = commands.filter(({ command }) =>
      command.registeredArguments.some(({ argChoices }) => !argChoices),
    );
    return fishScript(
      words,
      values,
      takingFiles.map(({ path }) => `'${path}'`),
    );
  }
  const script = bashScript(words, values);
  return shell === 'bash' ? script : `${ZSH}\n${script}`;
}

/** Lets zsh run bash completion scripts. */
const ZSH =
  '(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }\nautoload -U bashcompinit && bashcompinit';

const bashCase = ({ typed, words }: Case): string => `    '${typed}') words='${words.join(' ')}' ;;`;

const bashScript = (words: readonly Case[], values: readonly Case[]): string => `_floodgate() {
  local path='' word words previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$path $word" in ${pathsOf(words).join('|')}) path="$path $word" ;; esac
  done
  case "$path $previous" in
${values.map(bashCase).join('\n')}
    *) case "$path" in
${words.map(bashCase).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _floodgate floodgate`;

const fishCase = ({ typed, words }: Case): string =>
  `    case '${typed}'\n      printf '%s\\n' ${words.join(' ')}\n      return`;

const fishScript = (
  words: readonly Case[],
  values: readonly Case[],
  takingFiles: readonly string[],
): string => `function __floodgate_words
  set -l typed (commandline -opc)
  set -l path ''
  for word in $typed[2..-1]
    contains -- "$path $word" ${pathsOf(words).join(' ')}; and set path "$path $word"
  end
  switch "$path $typed[-1]"
${values.map(fishCase).join('\n')}
  end
  if string match -q -- '--*' $typed[-1]; or contains -- "$path" ${takingFiles.join(' ')}
    __fish_complete_path (commandline -ct)
  end
  switch "$path"
${words.map(fishCase).join('\n')}
  end
end
complete -c floodgate -f -a '(__floodgate_words)'`;

const pathsOf = (words: readonly Case[]): string[] =>
  words.filter(({ typed }) => typed !== '').map(({ typed }) => `'${typed}'`);

interface Placed {
  /** Words of the command, each preceded by a space; empty for the program itself. */
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

/** Flags with a fixed set of values. */
const valuesOf = (command: Command): [string, string[]][] =>
  flagsOf(command).flatMap(({ long, argChoices }) => (argChoices ? [[long ?? '', argChoices]] : []));
