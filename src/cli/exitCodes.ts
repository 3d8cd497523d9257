/** How a command ended, as its exit code says it. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  changes: 2,
  /** EX_USAGE of sysexits.h. */
  usage: 64,
  /** EX_UNAVAILABLE of sysexits.h. */
  unavailable: 69,
  /** As shells count a SIGINT. */
  interrupted: 130,
} as const;

/** What each means, for docs/commands.md. */
const MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  done: 'It was done. A server was stopped in good order; `status`: it is ready; `verify`: every store is whole; `doctor`: every node can be indexed from',
  failed:
    'It could not be done, or not all of it; standard error says why. `status`: it runs, and is not ready; `verify`: a store is damaged; `doctor`: a node cannot be used',
  changes: '`rules plan`: there is something to apply',
  usage: 'A command, a flag, a variable or the configuration is not as it must be: nothing was begun',
  unavailable: '`status`: no Floodgate answers at that address',
  interrupted: 'It was stopped before its end: by a second Ctrl-C, or `index` by the first',
};

/** Rows of code and meaning. */
export const EXIT_CODE_ROWS: readonly (readonly string[])[] = Object.entries(EXIT_CODES).map(
  ([name, code]) => [
    String(code),
    MEANINGS[name as keyof typeof EXIT_CODES], // its own key
  ],
);
