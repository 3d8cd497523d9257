/**
 * Returns a function that runs `work`, one run at a time. Calls during a run share the next run, which thus starts
 * after each of them.
 */
export function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const run = work();
      running = run.catch(() => undefined);
      return run;
    });
    return next;
  };
}
