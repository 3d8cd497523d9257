/** Maximum number of runs to minimise one finding. */
const MAX_TRIES = 3_000;

/** Returns the shortest input found that still fails, by removing pieces, large ones first. */
export async function minimise(
  input: Uint8Array,
  fails: (input: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let smallest = input;
  let tries = 0;
  for (let bytes = Math.ceil(input.length / 2); bytes >= 1; bytes = bytes === 1 ? 0 : Math.ceil(bytes / 2))
    for (let at = 0; at < smallest.length && tries < MAX_TRIES; ) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + bytes)]);
      tries++;
      if (await fails(shorter)) smallest = shorter;
      else at += bytes;
    }
  return smallest;
}
