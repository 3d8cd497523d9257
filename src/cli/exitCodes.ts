export const EXIT_CODES = {
  done: 0,
  failed: 1,
  changes: 2,
  /** EX_USAGE of sysexits.h. */
  usage: 64,
  /** EX_UNAVAILABLE of sysexits.h. */
  unavailable: 69,
  /** 128 plus the number of SIGINT, as in shells. */
  interrupted: 130,
} as const;

/** Meanings of the exit codes, as printed in docs/reference/commands.md. */
const MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  done: 'Success. A server was stopped normally; `status`: the server is ready; `verify`: all stores passed; `doctor`: every node can be indexed from',
  failed:
    'Failure, or partial failure; standard error contains the reason. `status`: the server is not ready; `verify`: a store failed; `doctor`: a node cannot be used',
  changes: '`rules plan`: there are changes to apply',
  usage: 'Invalid command, flag, variable or configuration; nothing was started',
  unavailable: '`status`: no Floodgate server answers at that address',
  interrupted: 'Interrupted: by a second Ctrl-C, or `index` by the first',
};

export const EXIT_CODE_ROWS: readonly (readonly string[])[] = Object.entries(EXIT_CODES).map(
  ([name, code]) => [
    String(code),
    MEANINGS[name as keyof typeof EXIT_CODES], // iterates its own keys
  ],
);
