/** PostgreSQL commits the changes one by one, and changes that wait longer than 8 s are rejected. */
const AT_ONCE = 20;

/** Runs `work` `count` times, 20 in parallel, and returns all results. */
export async function settleInBatches<T>(
  count: number,
  work: (i: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const results: PromiseSettledResult<T>[] = [];
  for (let from = 0; from < count; from += AT_ONCE)
    results.push(
      ...(await Promise.allSettled(
        Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => work(from + i)),
      )),
    );
  return results;
}

/** Runs `work` like `settleInBatches`, and throws the first error. */
export async function runInBatches<T>(count: number, work: (i: number) => Promise<T>): Promise<void> {
  for (const result of await settleInBatches(count, work))
    if (result.status === 'rejected') throw result.reason;
}
