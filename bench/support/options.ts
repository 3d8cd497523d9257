import { type ParseArgsConfig, parseArgs } from 'node:util';

const EXIT_USAGE = 64;

/** Returns the options of the command line. Ends the process with a message if one is unknown or has no value. */
export function optionsOf<T extends NonNullable<ParseArgsConfig['options']>>(options: T) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail((error as Error).message); // parseArgs throws only errors
  }
}

/** Returns the number in `text`, the value of `--name`. Ends the process with a message if it is not allowed. */
export function numberOf(
  name: string,
  text: string | undefined,
  { otherwise, least = 0 }: { readonly otherwise: number; readonly least?: number },
): number {
  const number = Number(text ?? otherwise);
  if (text?.trim() !== '' && number >= least && number < Number.POSITIVE_INFINITY) return number;
  return fail(`--${name} is ${JSON.stringify(text)}; allowed: a number of at least ${least}`);
}

function fail(message: string): never {
  console.error(`floodgate: ${message}`);
  process.exit(EXIT_USAGE);
}
