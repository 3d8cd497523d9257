/** Prints a line. Resolves when standard output has taken it, so that a slow reader slows down the writer. */
export function print(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

/** Ends the process normally if the reader closes the pipe (`| head`). */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

const MAX_FLUSH_MS = 1_000;

/** Resolves when all output is written, or after MAX_FLUSH_MS if nobody reads standard error. */
export async function flushOutput(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, MAX_FLUSH_MS);
    process.stderr.write('', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
