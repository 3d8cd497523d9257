/** Writes a line to standard output and waits until it is handed on: a reader may be slower than we are. */
export function print(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

/** A reader that has seen enough (`| head`) closes the pipe: that is no failure, and there is nothing more to do. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

/** A reader that has taken nothing for so long is not waited for any more. */
const MAX_FLUSH_MS = 1_000;

/** Resolves when all that was written to standard output and error has left this process, as far as somebody reads it. */
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
