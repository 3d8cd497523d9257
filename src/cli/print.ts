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

/** Resolves when all that was written to standard output and error has left this process. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
