/**
 * Calls `check` again and again, each time after three quarters to the whole of `periodMs`. Returns a function that
 * stops it. The times are random: if thousands of connections were checked in one step, other clients would wait.
 */
export function checkRepeatedly(periodMs: number, check: () => void): () => void {
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        schedule();
        check();
      },
      periodMs * (1 - Math.random() / 4),
    ).unref();
  };
  schedule();
  return () => clearTimeout(timer);
}
